import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createAccount } from '../../src/accounts/accounts.ts'
import { ENCRYPTED_COLUMNS } from '../../src/encrypted-columns.ts'
import { encrypt } from '../../src/store/encryption.ts'
import {
  checkKeyAt,
  findKeyProblem,
  openSecretKey,
  readSecretKey,
} from '../../src/store/secret-key.ts'
import { freshDatabase, type FreshDatabase } from '../database.ts'
import { runInProcess, runPortreeve } from '../cli/command.ts'
import { freePort } from '../free-port.ts'

const KEY = 'a key of at least thirty-two bytes, made for this test'
const OTHER = 'another key of at least thirty-two bytes'

let DATA_DIR: string
let database: FreshDatabase
beforeEach(async () => {
  DATA_DIR = mkdtempSync(join(tmpdir(), 'portreeve-key-'))
  database = await freshDatabase()
})
afterEach(async () => {
  await database.drop()
  rmSync(DATA_DIR, { recursive: true })
})

const file = () => join(DATA_DIR, 'secret.key')
const open = (keys: { SECRET_KEY?: string; SECRET_KEY_PREVIOUS?: string }) =>
  openSecretKey(
    database.db,
    { SECRET_KEY: undefined, SECRET_KEY_PREVIOUS: undefined, DATA_DIR, ...keys },
    ENCRYPTED_COLUMNS,
  )

describe('the secret key', () => {
  it('is the one that is set', async () => {
    expect(await open({ SECRET_KEY: KEY })).toBe(KEY)
    expect(readdirSync(DATA_DIR)).toEqual([])
  })

  it('is generated once, for this user only, by all that start at the same time', async () => {
    const keys = await Promise.all([1, 2, 3, 4].map(() => open({})))
    expect(new Set(keys)).toEqual(new Set([readFileSync(file(), 'utf8').trim()]))
    expect(keys[0]?.length).toBeGreaterThanOrEqual(32)
    expect(readdirSync(DATA_DIR)).toEqual(['secret.key'])
    expect(statSync(file()).mode & 0o777).toBe(0o600)
  })

  it('is never replaced when its file was damaged', () => {
    writeFileSync(file(), '')
    const config = { SECRET_KEY: undefined, SECRET_KEY_PREVIOUS: undefined, DATA_DIR }
    expect(() => readSecretKey(config)).toThrow('holds no key')
    expect(readFileSync(file(), 'utf8')).toBe('')
  })

  it('is refused when it is missing or another one, and then nothing is written', async () => {
    await open({ SECRET_KEY: KEY })
    await expect(open({})).rejects.toThrow(/is missing\. Copy secret\.key to .*, or set SECRET_KEY/)
    expect(readdirSync(DATA_DIR)).toEqual([])
    await expect(open({ SECRET_KEY: OTHER })).rejects.toThrow(/^SECRET_KEY is not the key/)
    await expect(open({ SECRET_KEY: OTHER, SECRET_KEY_PREVIOUS: OTHER })).rejects.toThrow(
      /^Neither/,
    )
    writeFileSync(file(), OTHER)
    await expect(open({})).rejects.toThrow(`${file()} is not the key`)
    expect(await open({ SECRET_KEY: OTHER, SECRET_KEY_PREVIOUS: KEY })).toBe(OTHER)
    // The rotation was not finished.
    await expect(open({ SECRET_KEY: OTHER })).rejects.toThrow(/^SECRET_KEY is not the key/)
    expect(await open({ SECRET_KEY: KEY })).toBe(KEY)
  })

  it('of one of two first starts with different keys is accepted', async () => {
    const starts = await Promise.allSettled([
      open({ SECRET_KEY: KEY }),
      open({ SECRET_KEY: OTHER }),
    ])
    expect(starts.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
  })

  it('is proven by the secrets of a database that has no check value yet', async () => {
    const { db, pool } = database
    const email = 'alice@people.test'
    const { id } = await createAccount(db, {
      email,
      password: 'the password of Alice',
      plan: 'pro',
    })
    const relay = `insert into relay (id, workspace_id, service, sealed, last_four) values ($1, $1, 'abuseipdb', $2, 'eeds')`
    await pool.query(relay, [id, encrypt('needs', KEY, `relay/${id}`)])
    await expect(open({ SECRET_KEY: OTHER })).rejects.toThrow(/^SECRET_KEY is not the key/)
    await expect(open({})).rejects.toThrow('is missing')
    const right = { SECRET_KEY: KEY, SECRET_KEY_PREVIOUS: undefined, DATA_DIR }
    expect(await checkKeyAt(database.url, right)).toEqual({ problem: null, isTested: false })
    expect(await open({ SECRET_KEY: KEY })).toBe(KEY)
    expect(await checkKeyAt(database.url, right)).toEqual({ problem: null, isTested: true })
    // The check value decides from now on.
    await pool.query('delete from relay')
    const config = { SECRET_KEY: OTHER, SECRET_KEY_PREVIOUS: undefined, DATA_DIR }
    expect(await findKeyProblem(db, config, [])).toMatch(/^SECRET_KEY is not the key/)
  })
})

describe('portreeve with another key', () => {
  it('does not start, says so in doctor, and starts once the key is accepted', async () => {
    const { id } = await createAccount(database.db, {
      email: 'alice@people.test',
      password: 'the password of Alice',
      plan: 'pro',
    })
    await database.pool.query(
      `insert into relay (id, workspace_id, service, sealed, last_four) values ($1, $1, 'abuseipdb', $2, 'eeds')`,
      [id, encrypt('needs', KEY, `relay/${id}`)],
    )
    await open({ SECRET_KEY: KEY })
    const env = {
      DATABASE_URL: database.url,
      DATA_DIR,
      SECRET_KEY: OTHER,
      SMTP_LISTEN: 'off',
      PORT: String(await freePort()),
    }
    const refused = await runPortreeve(['serve'], env)
    expect([refused.code, refused.err]).toEqual([
      1,
      expect.stringMatching(
        /^Error: SECRET_KEY is not the key .* \S+secret-key\.html#a-lost-key\.\n$/,
      ),
    ])
    const { out } = await runInProcess(['doctor'], { ...env, DNS_SERVERS: '127.0.0.1:1' })
    expect(out).toMatch(/✗ key +SECRET_KEY is not the key/)
    const accepted = await runInProcess(['database', 'accept-key'], env)
    expect(accepted).toMatchObject({
      code: 0,
      out: expect.stringMatching(/does not decrypt 1 stored secrets.*1 in relay\.sealed/),
    })
    expect(await open({ SECRET_KEY: OTHER })).toBe(OTHER)
  })
})
