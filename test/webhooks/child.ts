// The service as a process of its own, to be killed. Says where it listens.
import { startService } from '../../src/app.ts'
import { readConfig } from '../../src/config.ts'
import { createLog } from '../../src/log.ts'

const { url } = await startService(readConfig(), createLog('silent'))
process.stdout.write(`${url}\n`)
