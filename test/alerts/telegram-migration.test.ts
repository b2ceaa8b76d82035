import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { freshDatabase, type FreshDatabase } from '../database.ts'
import { removeEverybody } from '../people.ts'
import { startAlertService, type AlertService } from '../servers/alert-service.ts'
import { TELEGRAM_OLD_GROUP } from '../servers/alert-services/hosted-chat.ts'
import { startAlerts, until, type AlertsTest, type Person } from './module.ts'

const SUPERGROUP = '-1001234567890'

let database: FreshDatabase
let service: AlertService
let portreeve: AlertsTest
let alice: Person
beforeAll(async () => void (database = await freshDatabase()))
afterAll(() => database.drop())
beforeEach(async () => {
  service = await startAlertService('telegram')
  portreeve = await startAlerts(database.url, { origins: service.origins })
  alice = await portreeve.addPerson('Alice')
})
afterEach(async () => {
  await portreeve.stop()
  await service.close()
  await removeEverybody(database.db)
})

type Channel = {
  id: string
  name: string
  settings: Record<string, string>
  problem: string | null
}

const chats = () => service.calls.map(({ json }) => (json as { chat_id: string }).chat_id)

async function addChannel(chat = TELEGRAM_OLD_GROUP): Promise<Channel> {
  const settings = { ...service.settings, chat }
  const body = { type: 'telegram', settings }
  const { json, status } = await portreeve.call<Channel>(
    alice.token,
    'POST',
    'alerts/channels',
    body,
  )
  expect(status, json.error).toBe(201)
  return json.data
}

async function channelNow(id: string): Promise<Channel | undefined> {
  const { json } = await portreeve.call<Channel[]>(alice.token, 'GET', 'alerts/channels')
  return json.data.find((channel) => channel.id === id)
}

describe('a Telegram group that became a supergroup', () => {
  it('gets the alert there, and later ones without asking the group again', async () => {
    const { id } = await addChannel()
    await portreeve.raise(alice.id, 'one')
    await until(
      () => channelNow(id),
      (channel) => channel?.settings['chat'] === SUPERGROUP,
    )
    await portreeve.raise(alice.id, 'two')
    await until(
      () => service.shown,
      (shown) => shown.length === 2,
    )
    expect(chats()).toEqual([TELEGRAM_OLD_GROUP, SUPERGROUP, SUPERGROUP])
    expect(await channelNow(id)).toMatchObject({ name: `Telegram ${SUPERGROUP}`, problem: null })
  })

  it('is stored by a test, too', async () => {
    const { id } = await addChannel()
    const { status } = await portreeve.call(alice.token, 'POST', `alerts/channels/${id}/test`)
    expect(status).toBe(200)
    expect((await channelNow(id))?.settings['chat']).toBe(SUPERGROUP)
  })

  it('keeps its settings where another channel has the supergroup', async () => {
    const old = await addChannel()
    await addChannel(SUPERGROUP)
    await portreeve.raise(alice.id, 'one')
    await until(
      () => service.shown,
      (shown) => shown.length === 2,
    )
    expect((await channelNow(old.id))?.settings['chat']).toBe(TELEGRAM_OLD_GROUP)
  })
})
