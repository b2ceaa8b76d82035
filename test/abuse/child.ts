import { startAbuse } from './module.ts'

/** Another instance, which a test kills: it prints its URL and runs until then. */
const portreeve = await startAbuse(process.argv[2] ?? '')
console.log(portreeve.url)
