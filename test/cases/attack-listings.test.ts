import { afterAll } from 'vitest'
import { HOUR, START } from '../abuse/evidence.ts'
import { startAbuse } from '../abuse/module.ts'
import { freshDatabase } from '../database.ts'
import { runCases } from './run-cases.ts'

/** What happens to an address, in order. */
type Step =
  | { report: string; from: string[] | 'six operators'; service?: string; count?: number }
  | { appeal: string; from: string }
  | { hours: number }

/** Networks of six providers. */
const SIX_OPERATORS = ['88.198.1.1', '51.68.1.1', '95.216.1.1', '62.75.1.1', '78.46.1.1', '81.169.1.1'] // prettier-ignore

let now = START
const database = await freshDatabase()
const portreeve = await startAbuse(database.url, () => now)
afterAll(async () => {
  await portreeve.stop()
  await database.drop()
})

async function perform(step: Step): Promise<void> {
  if ('hours' in step) now += step.hours * HOUR
  else if ('appeal' in step) await appeal(step.appeal, step.from)
  else {
    const { report, from, service = 'ssh', count = 50 } = step
    for (const source of from === 'six operators' ? SIX_OPERATORS : from)
      await portreeve.report(source, report, { service, count })
  }
}

async function appeal(ip: string, from: string): Promise<void> {
  const body = { ip, reason: 'The infected machine is offline.' }
  const { ok } = await portreeve.request('appeals', { from, body })
  if (!ok) throw new Error(`The appeal about ${ip} was rejected.`)
}

runCases('attack-listings.json', async ({ steps, check }: { steps: Step[]; check: string }) => {
  for (const step of steps) await perform(step)
  const result = await portreeve.check(check)
  now += HOUR
  return result
})
