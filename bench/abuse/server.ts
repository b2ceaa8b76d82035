// One instance of attack reporting, in a process of its own. Arguments: the database's URL; `work` to keep the list too.
import { openAbuse } from '../../src/abuse/open.ts'
import { readSystems } from '../../src/abuse/systems.ts'
import { readConfig } from '../../src/config.ts'
import { createDoor } from '../../src/http/auth.ts'
import { createServer } from '../../src/http/server.ts'
import { createLog } from '../../src/log.ts'
import { isUnavailable, openDatabase } from '../../src/store/database.ts'
import { openSignals } from '../../src/store/signals.ts'

const [databaseUrl = '', role] = process.argv.slice(2)
const log = createLog('error')
const { db, pool } = openDatabase(databaseUrl)
const signals = await openSignals(databaseUrl, log)
const config = readConfig({ TRUSTED_PROXIES: '127.0.0.1' })
const secretKey = 'the key of the benchmark, long enough'
const { REPORTS_URL: reportsUrl, BASE_URL: baseUrl } = config
const abuse = await openAbuse({ db, pool, signals, log, secretKey, reportsUrl, baseUrl, systems: readSystems(null) })
const door = createDoor(async () => null, [])
const isReady = async () => true
const app = await createServer({ log, version: '0', trustedProxies: config.TRUSTED_PROXIES, isUnavailable, isReady })
abuse.routes(app, { door })
if (role === 'work') abuse.work()
console.log(await app.listen({ host: '127.0.0.1', port: 0 }))
