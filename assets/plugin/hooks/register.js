// Hands what Claude Code itself says of its context to `ctxgauge hook`: the window, when it compacts by itself, and what it
// estimates to fill the context. It changes nothing, and sends nothing anywhere else. Tried with Claude Code 2.1.331: the
// interface changes between releases, and what does not look as expected is passed over by ctxgauge.

// Written by `ctxgauge setup claude-code --mod`.
const PROGRAM = 'ctxgauge'
// Claude Code waits for this at the end of a turn.
const LONGEST_MS = 1000

async function tell($) {
  try {
    const { context } = await $.session.usage({ breakdown: 'summary' })
    const { categories, totalTokens, autoCompactThreshold, isAutoCompactEnabled } = context.breakdown
    const { version } = await $.session.version()
    const said = {
      hook_event_name: 'CtxgaugeContext',
      session_id: await $.session.id(),
      model: await $.session.model(),
      version,
      window: context.window,
      breakdown: {
        categories: categories.map(({ name, tokens, kind }) => ({ name, tokens, kind })),
        totalTokens,
        autoCompactThreshold,
        isAutoCompactEnabled,
      },
    }
    await $.process.run([PROGRAM, 'hook'], { stdin: JSON.stringify(said), timeoutMs: LONGEST_MS })
  } catch {
    // Nothing is said rather than something wrong.
  }
}

export function register(on) {
  on('session.start', async ($, event, next) => {
    const done = await next(event)
    await tell($)
    return done
  })
  on('turn.complete', async ($, event, next) => {
    const done = await next(event)
    await tell($)
    return done
  })
}
