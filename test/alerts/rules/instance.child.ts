// An instance in a process of its own, so that a test can kill it.
import { startAlerts } from '../module.ts'

const [databaseUrl = '', origins = '[]'] = process.argv.slice(2)
await startAlerts(databaseUrl, { origins: new Map(JSON.parse(origins) as [string, string][]) })
process.stdout.write('started\n')
