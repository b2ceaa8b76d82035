import { startMigrations } from './module.ts'

/** An instance of the service in a process of its own, which a test kills, or stops by SIGTERM. */
const [databaseUrl = ''] = process.argv.slice(2)
const portreeve = await startMigrations(databaseUrl)
process.once('SIGTERM', () => void portreeve.stop())
console.log('ready')
