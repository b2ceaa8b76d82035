// Runs the service with the role `web` only, as one process or as PROCESSES says. Prints its URL.
// Settings come from the environment.
import { startAllProcesses } from '../../src/cli/serve/start-processes.ts'
import { readConfig } from '../../src/config.ts'
import { createLog } from '../../src/log.ts'

const { url } = await startAllProcesses(readConfig(), createLog('warn'), { isJson: true })
console.log(url.replace('localhost', '127.0.0.1'))
