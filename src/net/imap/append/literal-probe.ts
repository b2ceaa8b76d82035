import { randomUUID } from 'node:crypto'
import { maxNonSyncLiteralBytes } from './append-header.ts'
import { ImapRefused } from '../connection/refusals.ts'
import type { Command } from '../connection/imap-command.ts'
import type { Wire } from '../connection/wire.ts'

/** The result of a probe, once for each connection. */
const probes = new WeakMap<Wire, Promise<boolean>>()
const commands = new WeakMap<Wire, Command>()

/** Whether a server ended the connection at the probe. */
export function isLostAtProbe(wire: Wire): boolean {
  return wire.lostDuring !== null && wire.lostDuring === commands.get(wire)
}

/**
 * Finds out whether a server reads the literal of an APPEND to its end although it rejects the
 * command before. Dovecot 2.3 and others read the literal of some rejected commands as commands
 * instead; then no message may be sent without waiting for the server.
 *
 * The probe appends a few bytes to a folder that does not exist. They would be a NOOP with a tag
 * that is never used, so a server that executes them ends the connection with an answer that was
 * not asked.
 * @returns false also for a server that accepts no literal without a continuation
 * @throws ImapLost, with the reason `protocol` for a server that reads literals as commands
 */
export async function discardsRejectedLiterals(wire: Wire): Promise<boolean> {
  const probe = probes.get(wire) ?? runProbe(wire)
  probes.set(wire, probe)
  return probe
}

const LITERAL = 'P0 NOOP\r\n'

async function runProbe(wire: Wire): Promise<boolean> {
  if (maxNonSyncLiteralBytes(wire) < LITERAL.length) return false
  const folder = `portreeve-probe-${randomUUID()}`
  const appended = await wire.withWriter(async (writer, begin) => {
    const command = begin()
    commands.set(wire, command)
    command.guardLiteral()
    await writer.write(`${command.tag} APPEND "${folder}" {${LITERAL.length}+}\r\n${LITERAL}\r\n`)
    return command
  })
  // Only the response to a later command shows that the literal had none.
  const after = wire.run(['NOOP'])
  after.catch(() => undefined)
  const { status } = await appended.answer
  await after
  if (status === 'OK') await removeFolder(wire, folder)
  return status === 'NO'
}

/** For a server that creates the folder of an APPEND, which RFC 3501 (6.3.11) forbids. */
async function removeFolder(wire: Wire, folder: string): Promise<void> {
  try {
    await wire.run([`DELETE "${folder}"`])
  } catch (error) {
    if (!(error instanceof ImapRefused)) throw error
  }
}
