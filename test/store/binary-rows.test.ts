import { afterEach, describe, expect, it } from 'vitest'
import { binaryRows, oidOf, type Attribute } from '../../src/store/binary-rows.ts'
import { emptyDatabase, type FreshDatabase } from '../database.ts'

let fresh: FreshDatabase | undefined

afterEach(async () => {
  await fresh?.drop()
  fresh = undefined
})

type Thing = { name: string | null; bytes: Buffer | null; told: unknown; size: number | null; isNew: boolean | null }

const ATTRIBUTES: Attribute<Thing>[] = [
  ['text', ({ name }) => name],
  ['bytea', ({ bytes }) => bytes],
  ['json', ({ told }) => (told === null ? null : JSON.stringify(told))],
  ['float8', ({ size }) => size],
  ['bool', ({ isNew }) => isNew],
]

/** What PostgreSQL reads of things that were written for it. */
async function throughPostgres(things: Thing[]): Promise<unknown[]> {
  fresh = await emptyDatabase()
  const { pool } = fresh
  await pool.query('create type thing as (name text, bytes bytea, told json, size float8, "isNew" bool)')
  const written = binaryRows(await oidOf(pool, 'thing'), ATTRIBUTES, things)
  return (await pool.query('select * from unnest($1::thing[])', [written])).rows
}

describe('rows in binary', () => {
  it('arrive as they are, in their order', async () => {
    const things: Thing[] = [
      { name: '', bytes: Buffer.alloc(0), told: [['a', '"\\\u0001']], size: -0.5, isNew: false },
      { name: 'Ünïcode 漢字 🚢', bytes: Buffer.from([0, 255, 10]), told: { deep: [null] }, size: 2 ** 53, isNew: true },
      { name: null, bytes: null, told: null, size: null, isNew: null },
    ]
    expect(await throughPostgres(things)).toEqual(things)
  })

  it('have the room they need, however much longer than usual they are', async () => {
    const things = [70_000, 3, 1, 2_000, 500_000].map((length, i) => ({
      name: '漢'.repeat(length / (i + 1)),
      bytes: Buffer.alloc(length, i),
      told: 'x'.repeat(length),
      size: length,
      isNew: true,
    }))
    expect(await throughPostgres(things)).toEqual(things)
  })

  it('may be none', async () => {
    expect(await throughPostgres([])).toEqual([])
  })
})
