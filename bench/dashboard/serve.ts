// Runs the service for measure.ts, on a database of its own, and prints the arguments to measure it:
// node bench/dashboard/serve.ts          an empty installation
// node bench/dashboard/serve.ts --full   the data of a small provider: see fill.ts
// It ends with Ctrl C.
import { once } from 'node:events'
import { setPriority } from 'node:os'
import { parseArgs } from 'node:util'
import { createAccount } from '../../src/accounts/accounts.ts'
import { startService } from '../../src/app.ts'
import { readConfig } from '../../src/config.ts'
import { createLog } from '../../src/log.ts'
import { readCatalogue } from '../../src/protocols/dnsbl/blocklist-catalogue.ts'
import { openDatabase } from '../../src/store/database.ts'
import { freePort } from '../../test/free-port.ts'
import { startDns } from '../../test/servers/dns.ts'
import { startPostgres } from '../../test/servers/postgres.ts'
import { startRbldnsd } from '../../test/servers/rbldnsd.ts'
import { fill, LISTED, nameRecords } from './fill.ts'

const { values } = parseArgs({ options: { full: { type: 'boolean', default: false } } })
const ADMINISTRATOR = { email: 'anna@example.com', password: 'correct horse battery staple' }

// The browser goes first: a phone has its processor to itself.
setPriority(10)
await using running = new AsyncDisposableStack()
const postgres = await startPostgres('embedded')
running.defer(() => postgres.stop())
const zones = readCatalogue().lists.map(({ zone }) => [zone, {}] as const)
const lists = await startRbldnsd({ ...Object.fromEntries(zones), ...LISTED })
running.defer(() => lists.stop())
const dns = await startDns()
running.defer(() => dns.close())
Object.assign(dns.records, nameRecords())
const config = readConfig({
  DATABASE_URL: postgres.url,
  SECRET_KEY: 'the secret key of a service that is measured',
  HOST: '127.0.0.1',
  PORT: String(await freePort()),
  ALLOW_PRIVATE_TARGETS: '127.0.0.0/8,::1',
  DNS_SERVERS: `127.0.0.1:${dns.port}`,
  DNSBL_SERVERS: `127.0.0.1:${lists.port}`,
  REPORT_DOMAIN: 'reports.example.com',
  SMTP_LISTEN: 'off',
  LOG_LEVEL: 'warn',
})
const service = await startService(config, createLog('warn'))
running.defer(() => service.stop())
const database = openDatabase(postgres.url)
running.defer(() => database.close())
const account = { ...ADMINISTRATOR, name: 'Anna', admin: true, plan: 'enterprise' as const }
const { id } = await createAccount(database.db, account)
if (values.full) await fill(service.url, postgres.url, id)
const { email, password } = ADMINISTRATOR
console.log(`--url ${service.url} --email ${email} --password '${password}'`)
await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')])
