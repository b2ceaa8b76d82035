import { readConfig } from '../../src/config.ts'
import { MAX_SNDS_BYTES, SNDS_TIMEOUT_MS } from '../../src/deliverability/limits.ts'
import { fetchStatisticsJob } from '../../src/deliverability/provider-access/statistics-jobs.ts'
import { createAccessTokens } from '../../src/mail-credentials/access-token.ts'
import { createClients } from '../../src/mail-credentials/clients/clients.ts'
import { createGuardedFetch, throughOrigins } from '../../src/net/http/guarded-fetch.ts'
import { openDatabase } from '../../src/store/database.ts'
import { jobContext } from '../jobs/context.ts'
import { BASE_URL, signedInBrowser } from '../mail-credentials/browser.ts'
import { mapResolver } from '../resolver.ts'
import { startProviderStatistics } from '../servers/provider-statistics.ts'
import { SERVICE_KEY, startTestService } from '../service.ts'

const ACCESSES = ['postmaster_access', 'snds_access', 'snds_sign_in']

export type StatisticsService = Awaited<ReturnType<typeof startStatisticsService>>

/** A service beside fakes of the providers of statistics, with an account that is signed in. */
export async function startStatisticsService() {
  const fake = await startProviderStatistics()
  // No jobs, which would fetch at times of their own.
  const service = await startTestService({ ROLES: 'web', BASE_URL, ...fake.settings }, undefined, {
    providerOrigins: fake.origins,
  })
  const { db, pool: database, close } = openDatabase(service.databaseUrl)
  const alice = await service.addPerson('Alice')

  function deps() {
    const guard = { resolver: mapResolver({}), allowPrivate: true as const }
    const fetchBounded = createGuardedFetch(guard, SNDS_TIMEOUT_MS, MAX_SNDS_BYTES)
    const request = throughOrigins(fetchBounded, fake.origins)
    const config = readConfig({ BASE_URL, ...fake.settings, DATABASE_URL: service.databaseUrl })
    const clients = createClients({ db, secretKey: SERVICE_KEY, config, guardedFetch: request })
    const onClientRejected = async () => {}
    return {
      db,
      secretKey: SERVICE_KEY,
      readToken: createAccessTokens({ db, secretKey: SERVICE_KEY, clients, onClientRejected }),
      requestGoogle: request,
      requestMicrosoft: request,
    }
  }

  return {
    fake,
    service,
    db,
    database,
    alice,
    browser: await signedInBrowser(service, alice),
    alerts: async () => {
      const { rows } = await database.query<Record<string, string>>(
        'select kind, phase, severity, title, text from alert where workspace_id = $1 order by id',
        [alice.id],
      )
      return rows
    },
    /** Fetches with every access that has not ended. */
    async fetchDue(): Promise<void> {
      for (const table of ACCESSES)
        await database.query(`update ${table} set due_at = now() where due_at is not null`)
      await fetchStatisticsJob(deps()).run({}, jobContext())
    },
    async stop(): Promise<void> {
      await close()
      await service.stop()
      await fake.stop()
    },
  }
}
