import { flushCompileCache } from 'node:module'
import { READY_MESSAGE, type RunningService } from '../../app.ts'
import { readConfig, requireSettings, type Config } from '../../config.ts'
import { createLog, type Logger } from '../../log.ts'
import { VERSION } from '../../version.ts'
import { limitHeapGrowth } from '../../heap-growth.ts'
import { findMisspeltSettings } from '../misspelt-settings.ts'
import { SAME_SIGNAL_MS } from '../stop-signals.ts'
import { createTextLog, isText, type TextLog } from '../terminal-log.ts'
import { startAllProcesses } from './start-processes.ts'
import { createWelcome, welcomeBlock } from './welcome.ts'

/**
 * Runs the service until a signal to stop. At a terminal it speaks to people; elsewhere it writes
 * the log as JSON lines to standard output, and the address to standard error.
 * @param json writes only the log, as JSON
 */
export async function runService(json: boolean): Promise<number> {
  requireSettings()
  const config = readConfig()
  const signals = handleSignals()
  if (!json && isText(config, process.stdout)) {
    await runForPeople(config.LOG_LEVEL, (log) => startLimited(config, log, false), signals)
    return 0
  }
  const log = createLog(config.LOG_LEVEL)
  const service = await startLimited(config, log, true)
  const { setupLink } = service
  if (!json) process.stderr.write(welcomeBlock(service.publicUrl, setupLink, process.stderr))
  else if (setupLink)
    log.info({ setupLink }, 'no account exists: create the first one at setupLink')
  await signals.toStop()
  await service.stop()
  return 0
}

async function startLimited(config: Config, log: Logger, isJson: boolean): Promise<RunningService> {
  for (const { given, meant } of findMisspeltSettings())
    log.warn(`${given} is no setting and has no effect. Did you mean ${meant}?`)
  const service = await startAllProcesses(config, log, { isJson })
  flushCompileCache()
  limitHeapGrowth({ servesRequests: config.ROLES.includes('web') })
  return service
}

/** Log lines of the start whose content the welcome block shows. */
const isInWelcome = (message: string) =>
  message === READY_MESSAGE || message.startsWith('Server listening at ')

async function runForPeople(
  level: string,
  start: (log: Logger) => Promise<RunningService>,
  signals: Signals,
): Promise<void> {
  const out = process.stdout
  const text: TextLog = createTextLog(level, out, isInWelcome)
  out.write(`Starting Portreeve ${VERSION}…\n`)
  signals.explainEarlyEnd(out)
  const service = await start(text.log)
  text.showWarningsOnly()
  const welcome = createWelcome(service, out)
  text.onLine(welcome.lineWritten)
  await signals.toStop()
  welcome.end()
  out.write(
    '\nStopping. Running work has 10 seconds to finish. Press Ctrl-C again to stop at once.\n',
  )
  await service.stop()
  out.write('Stopped.\n')
}

/** SIGHUP is what a terminal sends when it is closed. */
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** What is written while the service stops has nowhere to go, which must not end the process. */
function ignoreClosedTerminal(): void {
  for (const out of [process.stdout, process.stderr]) out.on('error', () => {})
}

type Signals = {
  /** Resolves at the first signal. */
  toStop(): Promise<void>
  /** Says so at a terminal when a signal ends the start. */
  explainEarlyEnd(out: NodeJS.WriteStream): void
}

/**
 * Handles SIGINT, SIGTERM and SIGHUP. While the service starts they end the process, and with it the
 * embedded database; after `toStop` the first one resolves its promise, and a later one ends the
 * process at once.
 */
function handleSignals(): Signals {
  let early = (): unknown => null
  let stop: (() => void) | undefined
  let stoppedAt = -Infinity
  for (const signal of SIGNALS) {
    process.on(signal, () => {
      if (signal === 'SIGHUP') ignoreClosedTerminal()
      // process.exit runs the handlers that stop the database; the default action of the signal
      // would not.
      if (!stop) {
        early()
        process.exit(1)
      }
      if (stoppedAt === -Infinity) stoppedAt = performance.now()
      else if (performance.now() - stoppedAt > SAME_SIGNAL_MS) process.exit(1)
      stop()
    })
  }
  return {
    toStop: () => new Promise((resolve) => (stop = resolve)),
    explainEarlyEnd: (out) =>
      (early = () => out.write('\nStopped before the service was ready.\n')),
  }
}
