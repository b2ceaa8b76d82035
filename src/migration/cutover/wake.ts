import type { Enqueue, Job } from '../../jobs/job.ts'
import type { Db } from '../../store/database.ts'
import { makeCutoverDue } from './cutovers.sql.ts'

/** Has the cut-over of a batch checked at once. */
export async function wakeCutover(
  db: Db,
  batchId: string,
  { enqueue, job, withDns = false }: { enqueue: Enqueue; job: Job; withDns?: boolean },
): Promise<void> {
  if (await makeCutoverDue(db, batchId, { withDns })) await enqueue(db, job, {})
}
