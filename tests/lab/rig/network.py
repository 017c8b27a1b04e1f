"""A network with loopback and nothing else, for this process and all that it starts."""

import ctypes
import fcntl
import os
import socket
import struct
from pathlib import Path

NEW_USER, NEW_NETWORK = 0x10000000, 0x40000000
SET_FLAGS, UP_AND_RUNNING = 0x8914, 0x41


def leave():
    """Leaves the machine's network, before a thread is started. Raises OSError where the system does not let us."""
    library = ctypes.CDLL(None, use_errno=True)
    if library.unshare(NEW_NETWORK):
        # Not as root: as a user of a namespace of our own.
        user, group = os.getuid(), os.getgid()
        if library.unshare(NEW_USER | NEW_NETWORK):
            raise OSError(ctypes.get_errno(), "no network namespace: " + os.strerror(ctypes.get_errno()))
        Path("/proc/self/uid_map").write_text(f"0 {user} 1")
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/gid_map").write_text(f"0 {group} 1")
    with socket.socket() as any_socket:
        fcntl.ioctl(any_socket, SET_FLAGS, struct.pack("16sh22x", b"lo", UP_AND_RUNNING))
