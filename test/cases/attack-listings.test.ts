import { afterAll } from 'vitest'
import { HOUR, START } from '../abuse/evidence.ts'
import { startAbuse } from '../abuse/module.ts'
import { freshDatabase } from '../database.ts'
import { runCases } from './run-cases.ts'

/** What happens to an address, in order. */
type Step =
  | {
      report: string
      from: string[] | 'six operators'
      service?: string
      count?: number
      /** Whether it is sent with the token of an account, which may take it back. */
      retractable?: true
    }
  | { retract: string; from: string }
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

const { token: session } = await portreeve.addPerson('Alice')
const { token } = await portreeve.answerTo<{ token: string }>('tokens', {
  token: session,
  body: { label: 'server' },
})

async function perform(step: Step): Promise<void> {
  if ('hours' in step) now += step.hours * HOUR
  else if ('appeal' in step) await appeal(step.appeal, step.from)
  else if ('retract' in step) await retract(step.retract, step.from)
  else {
    const { report, from, service = 'ssh', count = 50, retractable } = step
    const headers = retractable && { 'x-report-token': token }
    for (const source of from === 'six operators' ? SIX_OPERATORS : from)
      await portreeve.report(source, report, { service, count }, headers)
  }
}

async function appeal(ip: string, from: string): Promise<void> {
  const body = { ip, reason: 'The infected machine is offline.' }
  const { ok } = await portreeve.request('appeals', { from, body })
  if (!ok) throw new Error(`The appeal about ${ip} was rejected.`)
}

async function retract(ip: string, from: string): Promise<void> {
  const { ok } = await fetch(new URL(`/api/v2/clear-address?ipAddress=${ip}`, portreeve.url), {
    method: 'DELETE',
    headers: { key: token, 'x-forwarded-for': from },
  })
  if (!ok) throw new Error(`The reports about ${ip} were not deleted.`)
}

runCases('attack-listings.json', async ({ steps, check }: { steps: Step[]; check: string }) => {
  for (const step of steps) await perform(step)
  const result = await portreeve.check(check)
  now += HOUR
  return result
})
