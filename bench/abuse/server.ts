// Runs one instance of attack reporting in a separate process. Arguments: the URL of the database;
// `work` to publish the list as well.
import { createAbuseModule } from '../../src/abuse/module.ts'
import { readSystems } from '../../src/abuse/reputation/systems.ts'
import { readConfig } from '../../src/config.ts'
import { createAuthHooks } from '../../src/http/auth.ts'
import { addRoutes } from '../../src/http/scopes.ts'
import { createServer } from '../../src/http/server.ts'
import { followNames } from '../../src/net/named-networks.ts'
import { createLog } from '../../src/log.ts'
import { createResolver } from '../../src/net/dns.ts'
import { isUnavailable, openDatabase } from '../../src/store/database.ts'
import { openNotifications } from '../../src/store/notifications.ts'

const [databaseUrl = '', role] = process.argv.slice(2)
const log = createLog('error')
const { db, pool } = openDatabase(databaseUrl)
const notifications = await openNotifications(databaseUrl, log)
const config = readConfig({ TRUSTED_PROXIES: '127.0.0.1' })
const secretKey = 'the key of the benchmark, long enough'
const { REPORTS_URL: reportsUrl, BASE_URL: baseUrl } = config
const abuse = await createAbuseModule({
  db,
  pool,
  notifications,
  log,
  secretKey,
  reportsUrl,
  baseUrl,
  systems: readSystems(null),
  resolver: createResolver(),
  allowPrivate: false,
  mailRelay: null,
  returnPath: null,
  bounceMailbox: null,
})
const authHooks = createAuthHooks(async () => null, [])
const isReady = async () => true
const app = await createServer({
  log,
  version: '0',
  trustedProxies: (await followNames(config.TRUSTED_PROXIES)).networks,
  isUnavailable,
  isReady,
})
addRoutes(app, authHooks, [abuse.routes], { queue: { enqueue: async () => true } })
if (role === 'work') abuse.startWork()
console.log(await app.listen({ host: '127.0.0.1', port: 0 }))
