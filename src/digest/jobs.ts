import { Type } from 'typebox'
import { defineJob, type Job } from '../jobs/job.ts'
import { deliverDigest, findDueDigests, type DeliveryDeps } from './delivery/deliver.ts'
import { LEASE_SECONDS, PARALLEL_DIGESTS } from './limits.ts'

const Data = Type.Object({ workspaceId: Type.String(), accountId: Type.String() })

/**
 * Enqueues due digests every minute, and sends each in a job of its own; workspaces share the
 * senders equally.
 */
export function digestJobs(deps: DeliveryDeps): Job[] {
  const send = defineJob({
    name: 'digest.send',
    schema: Data,
    concurrency: PARALLEL_DIGESTS,
    accountOf: ({ workspaceId }) => workspaceId,
    workspaceOf: ({ workspaceId }) => workspaceId,
    uniqueBy: ({ workspaceId, accountId }) => `${workspaceId} ${accountId}`,
    deadline: LEASE_SECONDS,
    // The row knows when it is due again: the next sweep enqueues it.
    retry: { limit: 0 },
    run: (member, { signal }) => deliverDigest(deps, member, { now: new Date(), signal }),
  })
  const sweep = defineJob({
    name: 'digest.sweep',
    schedule: '* * * * *',
    concurrency: 1,
    uniqueBy: () => 'all',
    retry: { limit: 0 },
    async run(_data, { enqueue }) {
      for (const member of await findDueDigests(deps, new Date()))
        await enqueue(deps.db, send, member)
    },
  })
  return [sweep, send]
}
