// Runs the service with the role `web` only, as one process. Prints its URL. Settings come from the
// environment.
import { startService } from '../../src/app.ts'
import { readConfig } from '../../src/config.ts'
import { createLog } from '../../src/log.ts'

const { url } = await startService(readConfig(), createLog('warn'))
console.log(url.replace('localhost', '127.0.0.1'))
