import { randomUUID } from 'node:crypto'
import { issueToken } from '../../../src/accounts/tokens/api-tokens.ts'
import type { NewRuleBody, RuleChangesBody } from '../../../src/alerts/rules/shapes.ts'
import { freshDatabase } from '../../database.ts'
import { startAlertService, type AlertService } from '../../servers/alert-service.ts'
import { startAlerts, type AlertsTest, type AlertsTestOptions, type Person } from '../module.ts'

export type Rule = NewRuleBody & { id: string; sentence: string; problem: string | null }
type PreviewedChannel = {
  id: string
  name: string
  receives: boolean
  reason: string | null
  heldUntil: string | null
}
export type Preview = {
  sentence: string
  rule: { id: string | null; sentence: string } | null
  labels: string[]
  channels: PreviewedChannel[]
  escalation: { at: string; channels: PreviewedChannel[] }[]
}

/** A database with Alice’s workspace, fakes of chat services, and instances that share it. */
export async function startRules() {
  const database = await freshDatabase()
  const services: AlertService[] = []
  const instances: AlertsTest[] = []
  const origins = new Map<string, string>()

  async function start(options: AlertsTestOptions = {}): Promise<AlertsTest> {
    const instance = await startAlerts(database.url, { origins, ...options })
    instances.push(instance)
    return instance
  }

  const first = await start({ works: false })
  const alice = await first.addPerson('Alice')

  /** A channel of Alice to a fake of its own. */
  async function addChannel(type: string, more: object = {}) {
    const service = await startAlertService(type)
    services.push(service)
    for (const [name, origin] of service.origins) origins.set(name, origin)
    const body = { type, settings: service.settings, label: `${type} channel`, ...more }
    const { json } = await first.call<{ id: string }>(alice.token, 'POST', 'alerts/channels', body)
    if (!json.success) throw new Error(json.error)
    return { id: json.data.id, service }
  }

  return {
    database,
    origins,
    first,
    alice,
    start,
    addChannel,
    /** A person who may only read Alice’s workspace. */
    async addReader(): Promise<Person> {
      const reader = await first.addPerson(`Reader-${randomUUID().slice(0, 8)}`)
      const row = { workspaceId: alice.id, accountId: reader.id, role: 'read-only' }
      await first.db.insertInto('membership').values(row).execute()
      const owner = { accountId: reader.id, workspaceId: alice.id }
      return { ...reader, token: (await issueToken(first.db, owner, 'reading')).token }
    },
    create: (body: NewRuleBody, token = alice.token) =>
      first.call<Rule>(token, 'POST', 'alerts/rules', body),
    change: (id: string, body: RuleChangesBody, token = alice.token) =>
      first.call<Rule>(token, 'PATCH', `alerts/rules/${id}`, body),
    preview: (body: object, token = alice.token) =>
      first.call<Preview>(token, 'POST', 'alerts/rules/preview', body),
    list: (token = alice.token) => first.call<Rule[]>(token, 'GET', 'alerts/rules'),
    async stop(): Promise<void> {
      for (const instance of instances) await instance.stop()
      for (const service of services) await service.close()
      await database.drop()
    },
  }
}

export type RulesTest = Awaited<ReturnType<typeof startRules>>
