#!/usr/bin/env node
// Starts the program for this platform, which is in a package of its own. There is no install script.
"use strict";
const { spawn } = require("child_process");
const { constants } = require("os");
const { homepage, optionalDependencies, version } = require("./package.json");

const platform = `${process.platform}-${process.arch}`;
const name = `@ctxgauge/${platform}`;
const file = process.platform === "win32" ? "ctxgauge.exe" : "ctxgauge";

function fail(why) {
  process.stderr.write(`ctxgauge: ${why}\n`);
  process.exit(3);
}

function find() {
  if (!optionalDependencies[name]) {
    fail(`there is no package for ${platform}. It can be built with Rust: see ${homepage}`);
  }
  try {
    return require.resolve(`${name}/${file}`);
  } catch {
    return fail(
      `the package ${name}, which has the program for this platform, is not installed.\n` +
        `  It is an optional dependency of ctxgauge. Install ctxgauge again without --omit=optional or --no-optional,\n` +
        `  and without a lock file that was made on another platform; or add the package: npm install ${name}@${version}`,
    );
  }
}

const program = spawn(find(), process.argv.slice(2), { stdio: "inherit" });
// A terminal sends an interrupt to both.
process.on("SIGINT", () => {});
for (const signal of ["SIGTERM", "SIGHUP"]) {
  process.on(signal, () => program.kill(signal));
}
program.on("error", (error) => fail(`could not start ${program.spawnfile}: ${error.message}`));
program.on("exit", (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
