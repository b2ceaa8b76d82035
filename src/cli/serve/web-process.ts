// A further process of the service, started by web-processes.ts. The argument is the folder of
// compiled code that the first process has filled: it has to be in use before the service is loaded.
import { enableCompileCache } from 'node:module'
import { holdYoungGeneration } from '../../heap-growth.ts'

const [, , compiledFolder] = process.argv
if (compiledFolder !== undefined) enableCompileCache(compiledFolder)
// V8 rejects code that was compiled with other options.
holdYoungGeneration()
await import('./run-web-process.ts')
