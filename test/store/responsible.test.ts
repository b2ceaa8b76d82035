import { globSync, readFileSync } from 'node:fs'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { changeRole, removeMember } from '../../src/accounts/workspaces/members/members.ts'
import { insertMembership, insertWorkspace } from '../../src/accounts/workspaces/workspaces.sql.ts'
import { removeAccount, setPlan } from '../../src/accounts/accounts.ts'
import { createAuditWriter } from '../../src/accounts/audit/writer.ts'
import { scarcerOf } from '../../src/accounts/own-data/account-quotas.ts'
import { claimRelay } from '../../src/exchange/relays/relays.sql.ts'
import { countMails as countAbuseMails } from '../../src/exchange/abuse-mails/abuse-mails.sql.ts'
import { listDue as listDueMessages } from '../../src/alerts/delivery/due-messages.sql.ts'
import { listDueEscalations } from '../../src/alerts/rules/escalation/escalation.sql.ts'
import type { Plan } from '../../src/config.ts'
import { countMails as countDelistingMails } from '../../src/delisting/requests/delisting-requests.sql.ts'
import { lockSharing } from '../../src/diagnostics/shared-checks.sql.ts'
import { listDueDigests } from '../../src/digest/digest-subscriptions.sql.ts'
import { scopesOf } from '../../src/dmarc/usage/admission.ts'
import { requireFileStorage } from '../../src/dmarc/storage/report-quota.ts'
import {
  claimDueChecks,
  listDue as listDueRecords,
  listIncomplete,
  saveWatched,
} from '../../src/domains/watch/watched-domains.sql.ts'
import { createLoad } from '../../src/migration/batches/schedule/load.ts'
import type { Candidate } from '../../src/migration/batches/schedule/batch-schedule.sql.ts'
import {
  countThisMonth,
  findMigration,
  insertMigration,
} from '../../src/migration/migrations.sql.ts'
import { monthsOf, noProgress } from '../../src/migration/submit-migration.ts'
import { createLog } from '../../src/log.ts'
import { claimDue } from '../../src/monitoring/checks/host-checks.sql.ts'
import { findResponsible } from '../../src/store/responsible.ts'
import { freshDatabase, type FreshDatabase } from '../database.ts'
import { addAccount, passwordOf, removeEverybody } from '../people.ts'

let fresh: FreshDatabase
let db: FreshDatabase['db']
let people = 0
beforeAll(async () => {
  fresh = await freshDatabase()
  db = fresh.db
})
beforeEach(() => removeEverybody(db))
afterAll(() => fresh.drop())

/** @returns the id of the account, which is that of its first workspace, too */
async function addPerson(name: string, plan: Plan = 'free'): Promise<string> {
  const email = `${name}-${(people += 1)}@people.test`
  return (await addAccount(db, { email, password: passwordOf(name), plan })).id
}

async function addWorkspace(createdBy: string, plan: Plan = 'free'): Promise<string> {
  const workspace = { name: 'Another', plan, createdBy }
  return (await db.transaction().execute((trx) => insertWorkspace(trx, workspace))).id
}

describe('the account that answers for a workspace', () => {
  it('is its first owner, whoever joins, leaves or changes the role', async () => {
    const [alice, bob, carol] = [
      await addPerson('alice', 'pro'),
      await addPerson('bob', 'pro'),
      await addPerson('carol', 'pro'),
    ]
    const workspaceId = await addWorkspace(alice)
    const place = { workspaceId }
    expect(await findResponsible(db, workspaceId)).toBe(alice)
    await insertMembership(db, { ...place, accountId: bob, role: 'member' })
    await insertMembership(db, { ...place, accountId: carol, role: 'owner' })
    expect(await findResponsible(db, workspaceId)).toBe(alice)
    await changeRole(db, { ...place, accountId: alice }, 'admin', { accountId: alice })
    expect(await findResponsible(db, workspaceId)).toBe(carol)
    await changeRole(db, { ...place, accountId: bob }, 'owner', { accountId: carol })
    expect(await findResponsible(db, workspaceId)).toBe(bob)
    await removeMember(db, { ...place, accountId: bob }, { accountId: bob })
    expect(await findResponsible(db, workspaceId)).toBe(carol)
    await changeRole(db, { ...place, accountId: alice }, 'owner', { accountId: carol })
    await removeAccount(db, carol)
    expect(await findResponsible(db, workspaceId)).toBe(alice)
  })

  it('is none of an account that is gone: a workspace without an owner answers for itself', async () => {
    const [alice, bob] = [await addPerson('alice'), await addPerson('bob')]
    const workspaceId = await addWorkspace(alice)
    await insertMembership(db, { workspaceId, accountId: bob, role: 'member' })
    await db.deleteFrom('account').where('id', '=', alice).execute()
    expect(await findResponsible(db, workspaceId)).toBe(workspaceId)
  })

  it('is the one whose plan a workspace follows', async () => {
    const [alice, bob] = [await addPerson('alice', 'pro'), await addPerson('bob', 'pro')]
    const workspaceId = await addWorkspace(alice)
    await insertMembership(db, { workspaceId, accountId: bob, role: 'owner' })
    await removeMember(db, { workspaceId, accountId: alice }, { accountId: alice })
    const setPlanOf = async (id: string, plan: Plan) => {
      const { email } = await db
        .selectFrom('account')
        .select('email')
        .where('id', '=', id)
        .executeTakeFirstOrThrow()
      await setPlan(db, email, plan)
    }
    const planOf = async () =>
      (
        await db
          .selectFrom('workspace')
          .select('plan')
          .where('id', '=', workspaceId)
          .executeTakeFirstOrThrow()
      ).plan
    await setPlanOf(alice, 'enterprise')
    expect(await planOf()).toBe('free')
    await setPlanOf(bob, 'business')
    expect(await planOf()).toBe('business')
  })
})

describe('an account with many workspaces', () => {
  const WORKSPACES = 6

  /** Eve, whose workspaces have all waited longer than that of Alice. */
  async function addEve() {
    const [eve, alice] = [await addPerson('eve'), await addPerson('alice')]
    const workspaces = [eve]
    while (workspaces.length < WORKSPACES) workspaces.push(await addWorkspace(eve))
    return { eve, alice, workspaces: [...workspaces, alice] }
  }

  const agoOf = (index: number) => new Date(Date.now() - (60 - index) * 60_000)
  const watchAll = (workspaces: string[]) =>
    Promise.all(
      workspaces.map(async (workspaceId, index) => {
        const { id } = await saveWatched(db, { workspaceId, domain: 'x.test', hosts: [] })
        const times = { checkDueAt: agoOf(index), recordsAt: agoOf(index) }
        await db.updateTable('watchedDomain').set(times).where('id', '=', id).execute()
      }),
    )

  const TURNS: Record<
    string,
    {
      prepare(workspaces: string[]): Promise<unknown>
      /** The workspaces of the first two. */
      claim(): Promise<(string | undefined)[]>
    }
  > = {
    'checks of monitored hosts': {
      prepare: (workspaces) =>
        db
          .insertInto('monitoredHost')
          .values(
            workspaces.map((workspaceId, index) => ({
              workspaceId,
              host: 'x.test',
              graveDueAt: agoOf(index),
            })),
          )
          .execute(),
      claim: async () => (await claimDue(db, 2, 60)).map(({ workspaceId }) => workspaceId),
    },
    'checks of watched domains': {
      prepare: watchAll,
      claim: async () => (await claimDueChecks(db, 2, 60)).map(({ workspaceId }) => workspaceId),
    },
    'records of watched domains': {
      prepare: watchAll,
      claim: async () =>
        (await listDueRecords(db, new Date(), 2)).map(({ workspaceId }) => workspaceId),
    },
    'imported domains': {
      prepare: watchAll,
      claim: async () => (await listIncomplete(db, [], 2)).map(({ workspaceId }) => workspaceId),
    },
    digests: {
      prepare: (workspaces) =>
        Promise.all(
          workspaces.map(async (workspaceId, index) => {
            const accountId = await findResponsible(db, workspaceId)
            const time = { weekday: 1, hour: 8, timeZone: 'UTC', attemptAt: agoOf(index) }
            await db
              .insertInto('digestSubscription')
              .values({ workspaceId, accountId, frequency: 'daily', ...time })
              .execute()
          }),
        ),
      claim: async () =>
        (await listDueDigests(db, new Date(), 2)).map(({ workspaceId }) => workspaceId),
    },
    'steps of escalations': {
      prepare: (workspaces) =>
        db
          .insertInto('alertIncident')
          .values(
            workspaces.map((workspaceId, index) => {
              const times = {
                openedAt: agoOf(index),
                updatedAt: agoOf(index),
                escalatesAt: agoOf(index),
              }
              const named = { key: 'x', kind: 'host.listed', severity: 'error', title: 'X' }
              return { workspaceId, ...named, ...times }
            }),
          )
          .execute(),
      async claim() {
        const ids = await listDueEscalations(db, 2)
        const rows = await db
          .selectFrom('alertIncident')
          .select('workspaceId')
          .where('id', 'in', ids)
          .execute()
        return rows.map(({ workspaceId }) => workspaceId)
      },
    },
    'reports to other services': {
      prepare: (workspaces) =>
        Promise.all(
          workspaces.map(async (workspaceId, index) => {
            const relay = { workspaceId, service: 'abuseipdb', sealed: 'x', lastFour: 'xxxx' }
            const servedAt = agoOf(index)
            const { id: relayId } = await db
              .insertInto('relay')
              .values({ ...relay, servedAt })
              .returning('id')
              .executeTakeFirstOrThrow()
            await fresh.pool.query(
              `insert into relayed_report (relay_id, address, services, count, reported_at, due_at)
               values ($1, '192.0.2.1', '{ssh}', 1, now(), now() - interval '1 minute')`,
              [relayId],
            )
          }),
        ),
      async claim() {
        const now = new Date()
        const times = { now, leaseUntil: new Date(now.getTime() + 60_000), dayStart: now }
        return [
          (await claimRelay(db, times))?.workspaceId,
          (await claimRelay(db, times))?.workspaceId,
        ]
      },
    },
  }

  it.each(Object.entries(TURNS))('has one turn among those of %s', async (_what, turns) => {
    const { alice, workspaces } = await addEve()
    await turns.prepare(workspaces)
    const first = await turns.claim()
    expect(first).toHaveLength(2)
    expect(first).toContain(alice)
  })

  it('has one turn in every other query that divides work', () => {
    const files = globSync('src/**/*.ts')
    const found = files.filter((file) =>
      /partition by (\w+\.)?workspace_id|accountOf: \(\{ workspaceId \}\) =>/.test(
        readFileSync(file, 'utf8'),
      ),
    )
    expect(files.length).toBeGreaterThan(500)
    expect(found).toEqual([])
  })

  const migrationOf = (workspaceId: string) => {
    const side = { host: 'imap.test', port: 993, secure: true, user: 'x', tlsVerify: true }
    const options = { deduplicate: false, allMailOnce: false, dryRun: false, folderMap: {} }
    return insertMigration(
      db,
      {
        workspaceId,
        source: side,
        destination: side,
        destPrefix: '',
        folders: [],
        options,
        progress: noProgress([]),
      },
      () => 'sealed',
    )
  }

  it('has one turn in the queue of migrations, and one month', async () => {
    const { alice, eve, workspaces } = await addEve()
    const ids: string[] = []
    for (const workspaceId of workspaces) ids.push(await migrationOf(workspaceId))
    const own = await findMigration(db, alice, ids.at(-1) as string)
    expect(own?.queue).toEqual({ position: 2, totalInQueue: WORKSPACES + 1 })
    const [workspace, account] = monthsOf(await countThisMonth(db, workspaces[1] as string))
    expect([workspace, account]).toEqual([
      { used: 1, limit: 1 },
      { used: WORKSPACES, limit: 1 },
    ])
    // A workspace that has used nothing itself.
    const another = await addWorkspace(eve)
    expect(scarcerOf(...monthsOf(await countThisMonth(db, another)))).toEqual(account)
    expect(scarcerOf(...monthsOf(await countThisMonth(db, alice)))).toEqual({ used: 1, limit: 1 })
  })

  it('has the limits of its largest plan', async () => {
    const { eve, workspaces } = await addEve()
    await addWorkspace(eve, 'pro')
    const [workspace, account] = monthsOf(await countThisMonth(db, workspaces[0] as string))
    expect([workspace.limit, account.limit]).toEqual([1, 20])
  })

  it('has one number of mailboxes in the queue of migrations', () => {
    const load = createLoad([], 2)
    const take = (workspaceId: string, responsibleId: string) =>
      load.take({
        batchId: workspaceId,
        workspaceId,
        responsibleId,
        sourceHost: 'a',
        sourceLimit: 10,
        destinationHost: 'b',
        destinationLimit: 10,
      } as Candidate)
    expect([take('1', 'eve'), take('2', 'eve'), take('3', 'eve'), take('4', 'alice')]).toEqual([
      true,
      true,
      false,
      true,
    ])
  })

  it('has one share of the alert messages in transit', async () => {
    const { alice, workspaces } = await addEve()
    for (const workspaceId of workspaces) {
      const channel = {
        workspaceId,
        type: 'webhook',
        target: 'https://x.test',
        confirmedAt: agoOf(0),
      }
      const { id: channelId } = await db
        .insertInto('alertChannel')
        .values(channel)
        .returning('id')
        .executeTakeFirstOrThrow()
      const message = { channelId, workspaceId, collecting: false, dueAt: agoOf(0) }
      await db.insertInto('alertMessage').values(message).execute()
    }
    const batching = { holdMs: 0, gapMs: 0, burstHoldMs: 0 }
    const types = { bursts: [], perMinute: {} }
    const due = await listDueMessages(db, batching, types, { limit: 20, perAccount: 2 })
    const rows = await db
      .selectFrom('alertMessage')
      .innerJoin('alertChannel', 'alertChannel.id', 'channelId')
      .select('alertChannel.workspaceId')
      .where(
        'alertMessage.id',
        'in',
        due.map(({ id }) => id),
      )
      .execute()
    expect(rows).toHaveLength(3)
    expect(rows).toContainEqual({ workspaceId: alice })
  })

  it('has one number of emails to operators and abuse contacts a day', async () => {
    const { alice, workspaces } = await addEve()
    const [, second = '', third = ''] = workspaces
    const processOf = async (workspaceId: string) => {
      const { rows } = await fresh.pool.query<{ id: string; step: string }>(
        `with process as (
           insert into delisting_process (workspace_id, ip, asked_count, unknown_count, not_pursued, created_at)
           values ($1, '192.0.2.1', 1, 0, '[]', now()) returning id)
         insert into delisting_step
           (process_id, zone, name, category, confirmed, first_answer, last_answer, method, plan, rank)
         select id, 'x.test', 'X', 'major', true, '{}', '{}', 'email', '{}', 1 from process
         returning process_id as id, id as step`,
        [workspaceId],
      )
      return rows[0] as { id: string; step: string }
    }
    const [asked, next, others] = [
      await processOf(second),
      await processOf(third),
      await processOf(alice),
    ]
    await fresh.pool.query(
      `insert into delisting_request (step_id, attempt, ip, zone, recipient, state, at)
       values ($1, 1, '192.0.2.1', 'x.test', 'list@x.test', 'made', now())`,
      [asked.step],
    )
    const since = new Date(Date.now() - 60_000)
    expect(await countDelistingMails(db, 'list@x.test', next.id, since)).toEqual({
      all: 1,
      ofAccount: 1,
    })
    expect(await countDelistingMails(db, 'list@x.test', others.id, since)).toEqual({
      all: 1,
      ofAccount: 0,
    })
    const mail = { day: '2026-11-20', recipient: 'abuse@x.test', network: '192.0.2.0/24' }
    await db
      .insertInto('abuseMail')
      .values({ ...mail, workspaceId: second, isTest: false, state: 'sent', endedAt: new Date() })
      .execute()
    const counted = { recipient: 'abuse@x.test', dayStart: since }
    expect(await countAbuseMails(db, { ...counted, workspaceId: third })).toEqual({
      account: 1,
      recipient: 1,
    })
    expect(await countAbuseMails(db, { ...counted, workspaceId: alice })).toEqual({
      account: 0,
      recipient: 1,
    })
  })

  it('has one day of report mail, and one hour of audit entries', async () => {
    const { eve, workspaces } = await addEve()
    const [, second = '', third = ''] = workspaces
    const [address, account] = await scopesOf(db, { id: third, workspaceId: third })
    expect([address, account]).toEqual([third, eve])
    const writer = createAuditWriter({ db, log: createLog('silent'), entriesPerHour: 2 })
    const action = { actorId: eve, actorEmail: 'eve@people.test', token: null, details: {} }
    for (const workspaceId of [eve, second, third])
      await writer.write({ ...action, workspaceId, what: 'Change', route: 'PUT /x' }, eve)
    await writer.close()
    const entries = await db.selectFrom('auditEntry').select(['workspaceId', 'details']).execute()
    expect(entries).toHaveLength(3)
    expect(entries).toContainEqual({ workspaceId: third, details: { repeated: 1 } })
  })

  it('has one storage for report files and for shared checks', async () => {
    const { eve, alice, workspaces } = await addEve()
    const [, second = '', third = ''] = workspaces
    await db
      .insertInto('workspaceUsage')
      .values([eve, second].map((workspaceId) => ({ workspaceId, reportBytes: 125_000_000 })))
      .execute()
    await expect(requireFileStorage(db, third, 1, 30)).rejects.toThrow(
      'Report files use 250 MB of the 250 MB of your plan.',
    )
    await requireFileStorage(db, alice, 1, 30)
    const share = { target: 'x.test', results: '[]', bytes: 600, expiresAt: new Date(2100, 0) }
    await db
      .insertInto('sharedCheck')
      .values(
        [eve, second].map((workspaceId) => ({
          ...share,
          workspaceId,
          token: workspaceId.replaceAll('-', '').slice(0, 24),
        })),
      )
      .execute()
    const shared = await db.transaction().execute((trx) => lockSharing(trx, third))
    expect(shared).toEqual({ plan: 'free', accountPlan: 'free', accountBytes: 1_200 })
  })
})
