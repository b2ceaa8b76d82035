import { afterAll } from 'vitest'
import type { Phase } from '../../src/alerts/severity.ts'
import { startAlerts, until, type AlertsTest, type Person } from '../alerts/module.ts'
import { freshDatabase } from '../database.ts'
import { removeEverybody } from '../people.ts'
import { startAlertService } from '../servers/alert-service.ts'
import { runCases } from './run-cases.ts'

/**
 * What happens in order: `open one` raises an alert of this title, `mute` and the like act on the
 * problem.
 */
type Input = { channel: 'slack' | 'pagerduty'; steps: string[] }

const INCIDENT = 'blacklist/192.0.2.1/bl.test'

const database = await freshDatabase()
afterAll(() => database.drop())

runCases('alert-silences.json', async ({ channel, steps }: Input) => {
  const service = await startAlertService(channel)
  const start = () => startAlerts(database.url, { origins: service.origins })
  let portreeve = await start()
  const alice = await portreeve.addPerson('Alice')
  const body = { type: channel, settings: service.settings }
  await portreeve.call(alice.token, 'POST', 'alerts/channels', body)
  for (const step of steps) {
    if (step === 'restart') {
      await portreeve.stop()
      portreeve = await start()
    } else await perform(portreeve, alice, step)
    await isIdle(portreeve)
  }
  await portreeve.stop()
  await service.close()
  await removeEverybody(database.db)
  return { shown: channel === 'slack' ? titlesIn(service.shown, steps) : service.shown.map(actionIn) } // prettier-ignore
})

async function perform(portreeve: AlertsTest, alice: Person, step: string): Promise<void> {
  const [action = '', title] = step.split(' ')
  if (title) {
    const phase = action === 'resolve' ? 'resolved' : (action as Phase)
    await portreeve.raise(alice.id, title, { incident: phase === 'once' ? null : INCIDENT, phase, title }) // prettier-ignore
    return
  }
  const call = <T>(method: string, path: string, body?: object) =>
    portreeve.call<T>(alice.token, method, `alerts/${path}`, body)
  if (action === 'mute') await call('POST', 'mutes', { kind: 'blacklist', minutes: 60 })
  else if (action === 'unmute') {
    const { json } = await call<{ id: string }[]>('GET', 'mutes')
    for (const { id } of json.data) await call('DELETE', `mutes/${id}`)
  } else {
    const { json } = await call<{ incidents: { id: string }[] }>('GET', 'incidents')
    await call('POST', `incidents/${json.data.incidents[0]?.id}/${action}`, action === 'snooze' ? { minutes: 60 } : undefined) // prettier-ignore
  }
}

/** Resolves when every message is sent. */
async function isIdle({ db }: AlertsTest): Promise<void> {
  const countUnsent = () =>
    db.selectFrom('alertMessage').select('id').where('endedAt', 'is', null).execute()
  await until(countUnsent, ({ length }) => length === 0)
}

function titlesIn(shown: string[], steps: string[]): string[] {
  const titles = steps.flatMap((step) => step.split(' ').slice(1))
  return titles.filter((title) => shown.some((text) => new RegExp(`\\b${title}\\b`).test(text)))
}

/** The service shows the next action for a problem, and the title of a new one. */
const actionIn = (text: string) => /^(?:resolve|acknowledge)\b/.exec(text)?.[0] ?? 'trigger'
