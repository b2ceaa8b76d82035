import type { Client } from 'pg'
import { Fault } from '../../errors.ts'
import { NO_TIME_LIMITS } from '../database.ts'
import { copyRows } from './copy-rows.ts'
import {
  findStrange,
  readSchema,
  type Made,
  type Schema,
  type TableDefinition,
} from './database-objects.ts'

/** Number of rows and sum of their hashes. PostgreSQL’s hashes are the same in all versions. */
type Content = { rows: string; sum: string | null }

/** What a copy does at the moment: rows, then indexes and keys, then the comparison. */
export type CarryPhase = 'rows' | 'indexes' | 'compare'

export type CarryProgress = {
  /** Called with the number of bytes copied. */
  onBytes: (bytes: number) => void
  onPhase?: (phase: CarryPhase) => void
}

/** How many tables and rows a database has. */
export type CarryResult = { tables: number; rows: number }

/** Texts of values must be the same on both servers, and no time limit applies. */
const SESSION = `set search_path = ''; set timezone = 'UTC'; set datestyle = 'ISO, MDY'; set intervalstyle = 'postgres';
  set extra_float_digits = 1; set bytea_output = 'hex'; set client_encoding = 'UTF8'; ${NO_TIME_LIMITS}`

/**
 * Copies a database with its schema and all rows, and compares the result. Until both are equal,
 * the new database stays empty.
 * @param from connection of its owner or a superuser, in a transaction that sees one state; only
 *   read
 * @param to an empty database, as its owner
 * @throws Fault `conflict` naming objects that Portreeve never creates; Error when the two
 *   databases differ in the end
 */
export async function carryOver(
  from: Client,
  to: Client,
  { onBytes, onPhase = () => {} }: CarryProgress,
): Promise<CarryResult> {
  // With an empty search path, all names are qualified.
  for (const client of [from, to]) await client.query(SESSION)
  await refuseStrange(from)
  const schema = await readSchema(from)
  await to.query('begin')
  await to.query('set local check_function_bodies = off')
  await makeAll(to, schema.before)
  onPhase('rows')
  for (const table of schema.tables) await copyTable(from, to, table, onBytes)
  onPhase('indexes')
  await makeAll(to, schema.after)
  onPhase('compare')
  const rows = await compare(from, to, schema)
  await to.query('commit')
  await to.query('analyze')
  return { tables: schema.tables.length, rows }
}

async function refuseStrange(client: Client): Promise<void> {
  const strange = await findStrange(client)
  if (strange.length === 0) return
  const sentence =
    `The database holds what Portreeve never made and cannot carry over to another PostgreSQL: ${strange.join(', ')}. ` +
    'Drop these, with the Portreeve that made it where PostgreSQL is upgraded, and try again. Nothing was changed.'
  throw new Fault('conflict', sentence)
}

async function makeAll(client: Client, all: Made[]): Promise<void> {
  for (const { sql } of all) await client.query(sql)
}

function copyTable(
  from: Client,
  to: Client,
  { name, columns }: TableDefinition,
  onBytes: (bytes: number) => void,
) {
  const source = `copy (select ${columns} from only ${name}) to stdout`
  return copyRows({ from, source }, { to, target: `copy ${name} (${columns}) from stdin` }, onBytes)
}

/** @returns the number of rows */
async function compare(from: Client, to: Client, before: Schema): Promise<number> {
  const after = await readSchema(to)
  const differing = [
    ...missing(namesOf(before), namesOf(after)),
    ...missing(namesOf(after), namesOf(before)),
  ]
  let sum = 0
  for (const { name } of before.tables) {
    const [left, right] = await Promise.all([contentOf(from, name), contentOf(to, name)])
    if (left.rows !== right.rows || left.sum !== right.sum) differing.push(`the rows of ${name}`)
    sum += Number(left.rows)
  }
  if (differing.length === 0) return sum
  throw new Error(`the new database differs from the old one: ${differing.join(', ')}`)
}

function namesOf({ before, after }: Schema): string[] {
  return [...before, ...after].map(({ name }) => name)
}

function missing(wanted: string[], there: string[]): string[] {
  const known = new Set(there)
  return wanted.filter((name) => !known.has(name))
}

/** Hash partitions depend on `hashtextextended`, so it is the same in every version. */
async function contentOf(client: Client, table: string): Promise<Content> {
  const { rows } = await client.query<Content>(
    `select count(*) as rows, sum(hashtextextended(t::text, 0)::numeric) as sum from only ${table} as t`,
  )
  return rows[0] as Content
}
