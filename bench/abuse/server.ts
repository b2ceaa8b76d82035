// Runs one instance of attack reporting in a separate process. Arguments: the URL of the database;
// `work` to publish the list as well.
import { createAbuseModule } from '../../src/abuse/module.ts'
import { createExchangeModule } from '../../src/exchange/module.ts'
import { createFleetModule } from '../../src/fleet/module.ts'
import { createPublicFeedsModule } from '../../src/public-feeds/module.ts'
import { readSystems } from '../../src/abuse/reputation/systems.ts'
import { readConfig } from '../../src/config.ts'
import { createAuthHooks } from '../../src/http/auth.ts'
import { addRoutes } from '../../src/http/scopes.ts'
import { createServer } from '../../src/http/http-server.ts'
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
const resolver = createResolver()
const outgoing = { resolver, allowPrivate: false } as const
const { publicFeeds } = await createPublicFeedsModule({ db, notifications, log, ...outgoing })
const abuse = await createAbuseModule({
  db,
  pool,
  notifications,
  log,
  secretKey,
  reportsUrl,
  baseUrl,
  systems: readSystems(null),
  publicFeeds,
})
const { list } = abuse
const fleet = createFleetModule({ list, publicFeeds, notifications, baseUrl, resolver })
const { fleets } = fleet
const exchange = await createExchangeModule({
  secretKey,
  list,
  fleets,
  notifications,
  baseUrl,
  ...outgoing,
  mailRelay: null,
  returnPath: null,
  bounceMailbox: null,
})
const modules = [abuse, fleet, exchange]
const authHooks = createAuthHooks(async () => null, [])
const isReady = async () => true
const app = await createServer({
  log,
  version: '0',
  trustedProxies: (await followNames(config.TRUSTED_PROXIES)).networks,
  isUnavailable,
  isReady,
})
const routes = modules.map((module) => module.routes)
addRoutes(app, authHooks, routes, { queue: { enqueue: async () => true } })
if (role === 'work') for (const module of modules) module.startWork()
console.log(await app.listen({ host: '127.0.0.1', port: 0 }))
