// What a further process of the service does, loaded by web-process.ts: it serves HTTP.
import { startService, type RunningService } from '../../app.ts'
import { readConfig } from '../../config.ts'
import { messageOf } from '../../errors.ts'
import { createLog } from '../../log.ts'
import { limitHeapGrowth } from '../../heap-growth.ts'
import { createTextLog, isText } from '../terminal-log.ts'
import type { FromProcess, ToProcess } from './web-processes.ts'

let service: Promise<RunningService> | null = null
let isStopping = false

/** Settings of the first process, except what only that one does. */
async function start({ place, number, isJson }: Extract<ToProcess, { type: 'start' }>) {
  const config = readConfig()
  const isForPeople = !isJson && isText(config, process.stdout)
  const log = isForPeople
    ? createTextLog(config.LOG_LEVEL === 'info' ? 'warn' : config.LOG_LEVEL, process.stdout).log
    : createLog(config.LOG_LEVEL)
  const own = {
    ...config,
    PORT: place.port,
    DATABASE_URL: place.databaseUrl,
    SECRET_KEY: place.secretKey,
    SECRET_KEY_PREVIOUS: undefined,
    ROLES: ['web' as const],
  }
  const options = { processNumber: number }
  const started = await startService(own, log.child({ process: number }), undefined, options)
  limitHeapGrowth({ servesRequests: true })
  return started
}

async function stop(): Promise<void> {
  if (isStopping) return
  isStopping = true
  await (await service)?.stop()
  process.exit(0)
}

const send = (message: FromProcess) => process.send?.(message)

process.on('message', (received: ToProcess) => {
  if (received.type === 'start') {
    service = start(received)
    service.then(
      () => send({ type: 'ready' }),
      (error: unknown) => {
        // The message is sent before the process ends.
        process.send?.({ type: 'failed', message: messageOf(error) }, () => process.exit(1))
      },
    )
  }
  if (received.type === 'metrics') void sendMetrics(received.id)
  if (received.type === 'stop') void stop()
})

async function sendMetrics(id: number): Promise<void> {
  const metrics = await (await service)?.readMetrics()
  if (metrics) send({ type: 'metrics', id, metrics })
}

// A terminal sends its signals to all processes. A signal to this one alone restarts it.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void stop())
// The first process was killed: the database ends with it, and its successor needs the port.
process.on('disconnect', () => {
  if (!isStopping) process.exit(1)
})
