import type { Kysely } from 'kysely'
import type { Db } from '../../store/database.ts'
import { readSnapshot } from '../../store/snapshot.ts'
import type { DB } from '../../store/tables.ts'
import { countBatchProofs } from '../proof/proofs.sql.ts'
import { quietSince } from './advance.ts'
import { switchEverywhereAt, ttlEverywhereAt } from './dns-facts.ts'
import { CUTOVER_LIMITS } from './limits.ts'
import { listReceiving, readFinalPass, readWatch } from './cutover-mailboxes.sql.ts'
import { hasHosts, type MxAnswer } from './cutover-mx.ts'
import { describeOpenStep } from './open-step.ts'
import { openStepOf, type StepRow } from './steps.ts'
import { findCutover, listSteps, type CutoverRow } from './cutovers.sql.ts'

/** Reads the last cut-over of a batch as the API shows it, as of one time; null without one. */
export async function findShownCutover(db: Kysely<DB>, batchId: string) {
  return readSnapshot(db, async (trx) => {
    const row = await findCutover(trx, batchId)
    return row ? showCutover(trx, row) : null
  })
}

async function showCutover(db: Db, row: CutoverRow) {
  const steps = await listSteps(db, row.id)
  const watch = await readWatch(db, row)
  const { late: _late, ...finalPass } = await readFinalPass(db, row)
  const {
    requested: _,
    requestedAt: _at,
    endedAt: _end,
    ...proof
  } = await countBatchProofs(db, row.batchId)
  const open = row.endedAt === null ? openStepOf(steps) : null
  const found = { row, watch, finalPass, proof }
  const described = open && describeOpenStep(open.step, found)
  return {
    id: row.id,
    domain: row.domain,
    mx: row.expectedMx,
    ttl: row.targetTtl,
    quietHours: row.quietHours,
    proofLevel: row.proofLevel,
    status: row.outcome ?? ('open' as const),
    step: open?.step ?? null,
    needsAction: described?.needsAction ?? false,
    advice: described?.advice ?? null,
    steps: steps.map((step) => presentStep(step, open)),
    dns: presentDns(row),
    quiet: {
      since: quietSince(row),
      watchedUntil: watch.watchedUntil,
      unwatched: watch.unwatched,
      newMessages: watch.newMessages,
      withNewMessages: watch.withNewMessages,
      lastArrivalAt: row.lastArrivalAt,
      mailboxes: await listReceiving(db, row.id, CUTOVER_LIMITS.maxShownMailboxes),
    },
    finalPass: { startedAt: row.finalStartedAt, ...finalPass },
    proof,
    createdAt: row.createdAt,
    endedAt: row.endedAt,
  }
}

function presentStep(step: StepRow, open: StepRow | null) {
  const state: 'done' | 'open' | 'waiting' =
    step.closedAt !== null ? 'done' : step === open ? 'open' : 'waiting'
  return { ...step, state }
}

function presentDns(row: CutoverRow) {
  const { dns, dnsCheckedAt: checkedAt, expectedMx } = row
  const present = (answer: MxAnswer) => ({
    ...answer,
    isExpected: answer.problem === null && hasHosts(answer, expectedMx),
  })
  const ttls = dns?.servers.flatMap(({ ttl }) => ttl ?? []) ?? []
  return {
    checkedAt,
    zone: dns?.zone ?? null,
    servers: dns?.servers.map(present) ?? [],
    resolver: dns ? present(dns.resolver) : null,
    problem: dns?.problem ?? null,
    ttl: ttls.length === 0 ? null : Math.max(...ttls),
    ttlBefore: row.highestTtl,
    ttlLowAt: row.ttlLowAt,
    ttlEverywhereAt: ttlEverywhereAt(row),
    switchedAt: row.switchedAt,
    switchedEverywhereAt: switchEverywhereAt(row),
    revertedAt: row.revertedAt,
  }
}
