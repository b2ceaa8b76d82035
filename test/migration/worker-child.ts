import { startMigrations } from './module.ts'

/** An instance of the service in a process of its own, which a test kills. */
const [databaseUrl = ''] = process.argv.slice(2)
await startMigrations(databaseUrl)
console.log('ready')
