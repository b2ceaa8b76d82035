import type { Kysely } from 'kysely'
import { readReviews } from '../abuse/pending-reviews.ts'
import { dashboardLink } from '../alerts/alert-link.ts'
import type { SendDeps } from '../alerts/channels/channel-type.ts'
import { listChannelStates } from '../alerts/channels/channel-states.ts'
import { listOpenDelistings } from '../delisting/delistings.sql.ts'
import { listFailingMailboxes } from '../dmarc/dmarc-digest.sql.ts'
import { listUnverified } from '../dmarc/domains/dmarc-domains.sql.ts'
import { listBadDomains } from '../domains/watch/bad-domains.ts'
import { hasScope, type Module } from '../http/access.ts'
import type { Caller } from '../http/auth.ts'
import type { Logger } from '../log.ts'
import { listFailedMigrations } from '../migration/migrations.sql.ts'
import { findProblemHosts } from '../monitoring/list/problem-hosts.ts'
import { isUnavailable, withStatementTimeout } from '../store/database.ts'
import type { DB } from '../store/tables.ts'
import { DAY_MS } from '../time.ts'
import {
  countProblems,
  findProblems,
  type FoundProblem,
  type ProblemData,
} from './find-problems.ts'
import { FAILED_MIGRATION_DAYS, MAX_HOSTS, MAX_OBJECTS, QUERY_TIMEOUT_MS } from './limits.ts'
import type { ProblemList } from './shapes.ts'

export type ProblemDeps = Pick<SendDeps, 'db' | 'secretKey' | 'relay' | 'baseUrl'> & { log: Logger }

export type ProblemReader = Pick<Caller, 'workspaceId' | 'role' | 'scopes' | 'admin'>

const NONE = { rows: [], total: 0 }

const NOTHING: ProblemData = {
  domains: NONE,
  hosts: { rows: [], counts: { listed: 0, certificateProblems: 0 } },
  delistings: { rows: [], waiting: 0 },
  migrations: NONE,
  mailboxes: [],
  channels: [],
  unverified: NONE,
  reviews: null,
}

/** What is read for the problems, and the module to whose data a caller needs access. */
const PARTS: { [P in keyof ProblemData]: [Module, (reading: Reading) => Promise<ProblemData[P]>] } =
  {
    domains: [
      'checks',
      ({ db, reader: { workspaceId, scopes } }) =>
        listBadDomains(
          db,
          workspaceId,
          {
            dmarc: hasScope(scopes, 'dmarc', 'read'),
            monitoring: hasScope(scopes, 'monitoring', 'read'),
          },
          MAX_OBJECTS,
        ),
    ],
    hosts: [
      'monitoring',
      ({ db, reader: { workspaceId } }) => findProblemHosts(db, workspaceId, MAX_HOSTS),
    ],
    delistings: [
      'delisting',
      ({ db, reader: { workspaceId } }) => listOpenDelistings(db, workspaceId, MAX_OBJECTS),
    ],
    migrations: [
      'migrations',
      ({ db, reader: { workspaceId } }) => {
        const since = new Date(Date.now() - FAILED_MIGRATION_DAYS * DAY_MS)
        return listFailedMigrations(db, workspaceId, since, MAX_OBJECTS)
      },
    ],
    mailboxes: [
      'dmarc',
      async ({ db, reader: { workspaceId } }) =>
        (await listFailingMailboxes(db, workspaceId, MAX_OBJECTS)).rows,
    ],
    unverified: ['dmarc', ({ db, reader: { workspaceId } }) => listUnverified(db, workspaceId, 1)],
    channels: [
      'alerts',
      ({ db, deps, reader: { workspaceId, role } }) =>
        listChannelStates({ ...deps, db }, workspaceId, role),
    ],
    // As the routes of administrators: not with a token that is limited to scopes.
    reviews: [
      'attacks',
      async ({ db, reader: { admin, scopes } }) =>
        admin && scopes === null ? readReviews(db, Date.now()) : null,
    ],
  }

type Reading = { db: Kysely<DB>; deps: ProblemDeps; reader: ProblemReader }

/**
 * Reads the problems of a workspace, as far as the caller may read their modules: one query after
 * the other on one connection, because every open dashboard asks for them. A part that fails is
 * named in `missing`.
 */
export async function readProblems(deps: ProblemDeps, reader: ProblemReader): Promise<ProblemList> {
  const data = { ...NOTHING }
  const missing = new Set<Module>()
  await withStatementTimeout(deps.db, QUERY_TIMEOUT_MS, async (db) => {
    for (const [part, [module, read]] of Object.entries(PARTS)) {
      if (!hasScope(reader.scopes, module, 'read')) continue
      try {
        Object.assign(data, { [part]: await read({ db, deps, reader }) })
      } catch (error) {
        if (isUnavailable(error)) throw error
        deps.log.warn({ err: error, part }, 'problems of a workspace could not be read')
        missing.add(module)
      }
    }
  })
  const { problems, setup, administration } = findProblems(data)
  const target = { baseUrl: deps.baseUrl, workspaceId: reader.workspaceId }
  const present = (found: FoundProblem[]) =>
    found.map((problem) => ({ ...problem, url: dashboardLink(problem.path, target) }))
  return {
    count: countProblems(problems),
    problems: present(problems),
    setup: present(setup),
    administration: present(administration),
    missing: [...missing],
  }
}
