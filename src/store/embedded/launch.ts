import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Fault } from '../../errors.ts'
import { replaceFile } from '../file.ts'
import { tryClaim, type Claim } from './claim.ts'
import type { ServerAddress } from './connection.ts'
import { endLeftovers } from './leftovers.ts'
import { spawnServer, type Server, type Site } from './embedded-server.ts'
import { explainFailure } from './problem.ts'

/** A running server and the claim to it. */
export type ClaimedServer = { server: Server; claim: Claim }

export const ROLE = 'portreeve'
export const DATABASE = 'portreeve'

/** Starts the server and waits until it responds and is claimed. */
export async function launch(site: Site): Promise<ClaimedServer> {
  const { folder, user, address, log } = site
  await endLeftovers(folder, address.url('postgres', 'postgres'), user, log)
  replaceFile(join(folder, 'pg_hba.conf'), address.hba, 0o600, user)
  replaceFile(join(folder, 'pg_ident.conf'), address.ident, 0o600, user)
  const server = spawnServer(site)
  try {
    const claim = await claimWhenReady(site, server)
    await makeDatabase(claim, address)
    return { server, claim }
  } catch (error) {
    await server.stop()
    throw error
  }
}

/** Waits as long as the server runs, because crash recovery can take long. */
export async function claimWhenReady(
  { folder, address, log, owner }: Site,
  server: Server,
): Promise<Claim> {
  const begun = performance.now()
  for (let turn = 1; ; turn++) {
    const claim = await tryClaim(address.url('postgres', 'postgres'), owner)
    if (typeof claim === 'object') return claim
    if (!server.isRunning()) throw explainFailure('postgres', folder, await server.ended)
    if (claim === 'taken' && performance.now() - begun > 5_000)
      throw new Fault('conflict', `Another Portreeve took over ${folder}.`)
    if (turn % 1_000 === 0) log.info('PostgreSQL is still recovering from a crash')
    await sleep(10)
  }
}

/**
 * Built as text, because these statements cannot be prepared: the names are constants, and the
 * password is hexadecimal.
 */
async function makeDatabase({ client }: Claim, address: ServerAddress): Promise<void> {
  const { password } = new URL(address.url(ROLE, DATABASE))
  const { rows } = await client.query<{ role: boolean; database: boolean }>(
    `select exists (select from pg_roles where rolname = $1) as role,
            exists (select from pg_database where datname = $2) as database`,
    [ROLE, DATABASE],
  )
  if (!rows[0]?.role)
    await client.query(`create role ${ROLE} login ${password ? `password '${password}'` : ''}`)
  if (!rows[0]?.database) await client.query(`create database ${DATABASE} owner ${ROLE}`)
}

/** Ends the server after what its clients have committed is on disk. */
export async function end({ server, claim }: ClaimedServer): Promise<void> {
  await claim.release().catch(() => {})
  await server.stop()
}
