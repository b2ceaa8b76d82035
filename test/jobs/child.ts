import { appendFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { Type } from 'typebox'
import { defineJob } from '../../src/jobs/job.ts'
import { openQueue } from '../../src/jobs/queue.ts'
import { startWorker } from '../../src/jobs/worker.ts'
import { createLog } from '../../src/log.ts'
import { openDatabase } from '../../src/store/database.ts'
import { openNotifications } from '../../src/store/notifications.ts'

/** Another instance, which a test kills: it claims the job, reports that, and never ends. */
const [url = '', file = ''] = process.argv.slice(2)
const job = defineJob({
  name: 'endless',
  schema: Type.Object({ n: Type.Number() }),
  retry: { delay: 1 },
  run: async ({ n }, { attempt }) => {
    appendFileSync(file, `${n} ${attempt}\n`)
    await sleep(600_000)
  },
})
const log = createLog('silent')
const { pool } = openDatabase(url)
const queue = await openQueue({ pool, jobs: [job], log })
startWorker({ queue, jobs: [job], notifications: await openNotifications(url, log), log })
