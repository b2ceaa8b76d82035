// `node bench/large/run.ts [--share 0.01] [--lanes 2] [--requests 30]`: the pages of the API on a database of this
// share of 100 million attack reports, 10 million captured requests and 50 million DMARC records.
// `--folder FOLDER` keeps the database there; if it is filled already, only pages are measured.
// `--pages PATTERN` measures the pages whose names match this pattern.
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { issueToken } from '../../src/accounts/tokens/api-tokens.ts'
import { createLog } from '../../src/log.ts'
import { openDatabase, type Database } from '../../src/store/database.ts'
import { startEmbedded } from '../../src/store/embedded.ts'
import { migrate } from '../../src/store/migrate-schema.ts'
import { startPortreeve } from '../webhooks/start.ts'
import { fill } from './fill.ts'
import { backUpAndRestore, countListed, publishList, runRetention } from './maintenance.ts'
import { measurePages } from './measure.ts'
import { pagesOf, type Workspace } from './pages.ts'
import { presentFill, presentPages, presentSizes, presentTimes } from './present.ts'
import { idOf, sizesOf, type Sizes } from './sizes.ts'
import { databaseBytes, readSizes } from './tables.ts'

const SMALLEST_SHARE = 0.001

type Options = {
  share?: number
  lanes?: number
  requests?: number
  /** Keeps the filled database; an existing one is used again, and only its pages are measured. */
  folder?: string | undefined
  /** Only pages whose names match this pattern. */
  pages?: string | undefined
}

/** Returns the printed tables. A hundredth takes about a minute. */
export async function run({
  share = 0.01,
  lanes = 2,
  requests = 30,
  folder,
  pages = '',
}: Options = {}): Promise<string> {
  const sizes = sizesOf(share)
  const isFilled = folder !== undefined && existsSync(join(folder, 'postgres'))
  const dataDir = folder ?? mkdtempSync(join(tmpdir(), 'portreeve-large-'))
  const server = await startEmbedded({ dataDir, log: createLog('silent') })
  const database = openDatabase(server.url)
  try {
    await migrate(database.pool)
    if (isFilled) return await measureBoth(server.url, database, { sizes, requests, pages })
    const times = await fill(server, sizes, { lanes, onPart: (line) => console.error(line) })
    const parts = [presentFill(sizes, times, await databaseBytes(database.pool))]
    parts.push(presentSizes(await readSizes(database.pool, 16)))
    const prepared = [await publishList(database), await countListed(database)]
    parts.push(await measureBoth(server.url, database, { sizes, requests, pages }))
    const maintained = [...prepared, ...(await runRetention(database))]
    parts.push(presentTimes([...maintained, ...(await backUpAndRestore(dataDir))]))
    return parts.join('\n\n')
  } finally {
    await database.close()
    await server.stop()
    if (!folder) rmSync(dataDir, { recursive: true, force: true })
  }
}

async function measureBoth(
  databaseUrl: string,
  database: Database,
  { sizes, requests, pages: pattern }: { sizes: Sizes; requests: number; pages: string },
): Promise<string> {
  const service = await startPortreeve({ databaseUrl, apiToken: '', stop: async () => {} })
  try {
    const measured = []
    for (const workspace of [1, 2] as const) {
      const token = await tokenOf(database, workspace)
      const reportToken = await takeReportToken(service.url, token, database, workspace)
      const all = await pagesOf(database.pool, workspace, { sizes, reportToken })
      const pages = all.filter(({ name }) => new RegExp(pattern).test(name))
      measured.push(await measurePages({ url: service.url, token, requests }, pages))
    }
    return presentPages(measured[0] ?? [], measured[1] ?? [])
  } finally {
    await service.stop()
  }
}

async function tokenOf({ db }: Database, workspace: Workspace): Promise<string> {
  const owner = {
    accountId: idOf('account', workspace),
    workspaceId: idOf('workspace', workspace),
  }
  return (await issueToken(db, owner)).token
}

/** Gives the token that the reports are of a secret that is known. */
async function takeReportToken(
  url: string,
  token: string,
  { pool }: Database,
  workspace: Workspace,
): Promise<string> {
  const answer = await fetch(new URL('/api/v1/abuse/tokens', url), {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: '{"label": "known"}',
  })
  const text = await answer.text()
  const { token: secret } = JSON.parse(text) as { token?: string }
  if (secret === undefined) throw new Error(`no report token: ${text}`)
  const { rows } = await pool.query<{ hash: Buffer }>(
    `delete from abuse_token where label = 'known' returning hash`,
  )
  await pool.query('update abuse_token set hash = $1 where id = $2', [
    rows[0]?.hash,
    idOf('reportToken', workspace),
  ])
  return secret
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      share: { type: 'string', default: '0.01' },
      lanes: { type: 'string', default: '2' },
      requests: { type: 'string', default: '30' },
      folder: { type: 'string' },
      pages: { type: 'string' },
    },
  })
  const [share = 0, lanes = 0, requests = 0] = [values.share, values.lanes, values.requests].map(
    Number,
  )
  if (!(share >= SMALLEST_SHARE && share <= 1 && lanes >= 1 && requests >= 1)) {
    console.error(`--share is from ${SMALLEST_SHARE} to 1, --lanes and --requests are 1 or more.`)
    process.exit(2)
  }
  const { folder, pages } = values
  console.log(await run({ share, lanes, requests, folder, pages }))
}
