import { startAbuse } from './module.ts'

/** Another instance, to be killed: it says where it listens, and runs until then. */
const portreeve = await startAbuse(process.argv[2] ?? '')
console.log(portreeve.url)
