import { Type } from 'typebox'
import { defineJob, defineSweep, type Job } from '../jobs/job.ts'
import { findResponsible } from '../store/responsible.ts'
import { deliverDigest, findDueDigests, type DeliveryDeps } from './delivery/deliver-digest.ts'
import { LEASE_SECONDS, PARALLEL_DIGESTS } from './limits.ts'

const Data = Type.Object({ workspaceId: Type.String(), accountId: Type.String() })

/**
 * Enqueues due digests every minute, and sends each in a job of its own; accounts share the
 * senders equally.
 */
export function digestJobs(deps: DeliveryDeps): Job[] {
  const send = defineJob({
    name: 'digest.send',
    schema: Data,
    concurrency: PARALLEL_DIGESTS,
    accountOf: ({ workspaceId }, db) => findResponsible(db, workspaceId),
    workspaceOf: ({ workspaceId }) => workspaceId,
    uniqueBy: ({ workspaceId, accountId }) => `${workspaceId} ${accountId}`,
    deadline: LEASE_SECONDS,
    // The row knows when it is due again: the next sweep enqueues it.
    retry: { limit: 0 },
    run: (member, { signal }) => deliverDigest(deps, member, { now: new Date(), signal }),
  })
  const sweep = defineSweep({
    name: 'digest.sweep',
    schedule: '* * * * *',
    async run(_data, { enqueue }) {
      for (const member of await findDueDigests(deps, new Date()))
        await enqueue(deps.db, send, member)
    },
  })
  return [sweep, send]
}
