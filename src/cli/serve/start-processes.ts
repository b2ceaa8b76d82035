import { startService, type RunningService } from '../../app.ts'
import type { Config } from '../../config.ts'
import type { Logger } from '../../log.ts'

/**
 * Starts the service in this process, and with PROCESSES further processes that serve HTTP.
 * @throws Fault when one of them cannot start
 */
export async function startAllProcesses(
  config: Config,
  log: Logger,
  { isJson }: { isJson: boolean },
): Promise<RunningService> {
  if (config.DEMO) return (await import('../../demo/demo.ts')).startDemo(config, log)
  if (config.PROCESSES === 1) return startService(config, log)
  const { startWebProcesses } = await import('./web-processes.ts')
  const numbered = log.child({ process: 1 })
  return startService(config, numbered, undefined, {
    startProcesses: async (place) =>
      startWebProcesses({ count: config.PROCESSES - 1, place, isJson, log: numbered }),
  })
}
