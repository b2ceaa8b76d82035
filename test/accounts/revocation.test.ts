import type { Kysely } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTokenAuth } from '../../src/abuse/tokens/token-auth.ts'
import * as abuseTokens from '../../src/abuse/tokens/report-tokens.ts'
import { createIdentify } from '../../src/accounts/tokens/identify-token.ts'
import * as apiTokens from '../../src/accounts/tokens/api-tokens.ts'
import { deleteWorkspace, restoreWorkspace } from '../../src/accounts/workspaces/workspaces.ts'
import { createLog } from '../../src/log.ts'
import { openNotifications, type Notifications } from '../../src/store/notifications.ts'
import type { DB } from '../../src/store/tables.ts'
import { createEndpointCache } from '../../src/webhooks/endpoints/cache.ts'
import * as endpoints from '../../src/webhooks/endpoints/endpoints.ts'
import { freshDatabase, type FreshDatabase } from '../database.ts'
import { addAccount } from '../people.ts'

const secretKey = 'the secret key of the tests of revocations'
let database: FreshDatabase
let notifications: Notifications
let workspaceId: string

beforeAll(async () => {
  database = await freshDatabase()
  notifications = await openNotifications(database.url, createLog('silent'))
  const account = {
    email: 'alice@people.test',
    password: 'p',
    name: 'Alice',
    admin: false,
  } as const
  workspaceId = (await addAccount(database.db, { ...account, plan: 'enterprise' })).id
})
afterAll(async () => {
  await notifications.close()
  await database.drop()
})

/** A database that has read its rows, and answers when it is told to. */
function slowDatabase() {
  const [reading, answering] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const db: Kysely<DB> = database.db.withPlugin({
    transformQuery: ({ node }) => node,
    async transformResult({ result }) {
      reading.resolve()
      await answering.promise
      return result
    },
  })
  return { db, hasRead: reading.promise, answer: () => answering.resolve() }
}

/** A database that goes away before a notification is sent. */
function brokenDatabase(): Kysely<DB> {
  return database.db.withPlugin({
    transformQuery({ node }) {
      if (JSON.stringify(node).includes('pg_notify')) throw new Error('the database is away')
      return node
    },
    transformResult: async ({ result }) => result,
  })
}

/** Resolves when all notifications that were sent until now have arrived. */
async function heardEverything(): Promise<void> {
  const heard = Promise.withResolvers<void>()
  const stop = notifications.on('test', () => heard.resolve())
  await database.pool.query(`select pg_notify('portreeve', '["test",null]')`)
  await heard.promise
  stop()
}

type Credential = {
  name: string
  /** Creates one. @returns it, and its id */
  create: () => Promise<{ secret: string; id: string }>
  revoke: (db: Kysely<DB>, id: string) => Promise<unknown>
  /** An instance that finds what a credential is for; null for none. */
  finder: (db: Kysely<DB>) => (secret: string) => Promise<unknown>
}

function abuseToken(name: string, use: 'report' | 'bouncer'): Credential {
  return {
    name,
    async create() {
      const { db } = database
      const { token, id } = await abuseTokens.issueToken(db, use, { workspaceId, label: '' })
      return { secret: token, id }
    },
    revoke: (db, id) => abuseTokens.revokeToken(db, use, { workspaceId, id }),
    finder: (db) =>
      createTokenAuth(db, notifications, use === 'report' ? 'canReport' : 'readsFleet').find,
  }
}

const CREDENTIALS: Credential[] = [
  abuseToken('report token', 'report'),
  abuseToken('bouncer key', 'bouncer'),
  {
    name: 'API token',
    async create() {
      const owner = { accountId: workspaceId, workspaceId }
      const { token, id } = await apiTokens.issueToken(database.db, owner)
      return { secret: token, id }
    },
    revoke: (db, id) => apiTokens.revokeToken(db, id),
    finder(db) {
      const options = { db, auth: {} as never, notifications, log: createLog('silent') }
      const identify = createIdentify(options)
      return async (secret) => identify({ authorization: `Bearer ${secret}` })
    },
  },
  {
    name: 'webhook endpoint',
    async create() {
      const policy = {
        namePolicy: 'off',
        hasOwnOrigin: false,
        forwards: false,
        emailDomain: null,
      } as const
      const deps = { db: database.db, secretKey, ...policy }
      const owner = { workspaceId, admin: false }
      const { token, id } = await endpoints.createEndpoint(deps, owner, {})
      return { secret: token, id }
    },
    revoke: (db, id) => endpoints.removeEndpoint(db, workspaceId, id),
    finder(db) {
      const cache = createEndpointCache((token) =>
        endpoints.loadEndpoint({ db, secretKey, hasOwnOrigin: false, forwards: false }, token),
      )
      endpoints.onEndpointChange(
        notifications,
        ({ token }) => cache.forget(token),
        () => cache.forgetAll(),
      )
      return async (secret) => cache.find(secret)
    },
  },
]

describe.each(CREDENTIALS)('a $name', ({ create, revoke, finder }) => {
  it('that is revoked during a look-up is refused from then on', async () => {
    const { secret, id } = await create()
    const { db, hasRead, answer } = slowDatabase()
    const find = finder(db)
    const found = find(secret)
    await hasRead
    await revoke(database.db, id)
    await heardEverything()
    answer()
    expect(await found).toBeNull()
    expect(await find(secret)).toBeNull()
  })

  it('that is known is refused as soon as it is revoked', async () => {
    const { secret, id } = await create()
    const find = finder(database.db)
    expect(await find(secret)).not.toBeNull()
    await revoke(database.db, id)
    await heardEverything()
    expect(await find(secret)).toBeNull()
  })

  it('is not revoked where no instance can be notified', async () => {
    const { secret, id } = await create()
    await expect(revoke(brokenDatabase(), id)).rejects.toThrow('away')
    expect(await finder(database.db)(secret)).not.toBeNull()
  })
})

describe.each(CREDENTIALS.slice(0, 3))('a $name of a deleted workspace', ({ create, finder }) => {
  it('is refused at once, and accepted at once after the restore', async () => {
    const { secret } = await create()
    const find = finder(database.db)
    expect(await find(secret)).not.toBeNull()
    await deleteWorkspace(database.db, workspaceId, 'Alice', null)
    await heardEverything()
    expect(await find(secret)).toBeNull()
    await restoreWorkspace(database.db, workspaceId, null)
    await heardEverything()
    expect(await find(secret)).not.toBeNull()
  })

  it('is accepted when the restore comes during a look-up', async () => {
    const { secret } = await create()
    await deleteWorkspace(database.db, workspaceId, 'Alice', null)
    const { db, hasRead, answer } = slowDatabase()
    const found = finder(db)(secret)
    await hasRead
    await restoreWorkspace(database.db, workspaceId, null)
    await heardEverything()
    answer()
    expect(await found).not.toBeNull()
  })
})
