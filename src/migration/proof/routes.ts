import { Type } from 'typebox'
import type { FastifyReply } from 'fastify'
import { Fault } from '../../errors.ts'
import { callerOf } from '../../http/auth.ts'
import { responses, responsesAs, Success, Uuid } from '../../http/http-schema.ts'
import type { App } from '../../http/http-server.ts'
import type { Db } from '../../store/database.ts'
import { requireBatch } from '../batches/find-batch.ts'
import { findMigration, hasSecret } from '../migrations.sql.ts'
import { requestBatchProof, requestProof, type ProofActionDeps } from './proof-actions.ts'
import { composeBatchProof } from './batch-proof.ts'
import type { MailboxProof } from './proof-document.ts'
import { isEmptyProof } from './messages.ts'
import {
  BatchProofRequest,
  MigrationBatchProof,
  MigrationProof,
  ProofKey,
  ProofRequest,
} from './shapes.ts'
import { signFile, type ProofKey as SigningKey } from './signed-file.ts'
import { countBatchProofs, findDocument, findProof } from './proofs.sql.ts'

export type ProofRoutesDeps = ProofActionDeps & { proofKey: SigningKey }

const params = Type.Object({ id: Uuid })
const FILE_TYPE = 'application/x-ndjson'

/** Registers the routes of proofs. */
export function proofRoutes(app: App, deps: ProofRoutesDeps): void {
  mailboxRoutes(app, deps)
  batchRoutes(app, deps)
}

/** Registers the route of the public key, with which anybody can verify a proof. */
export function proofKeyRoute(app: App, { proofKey }: Pick<ProofRoutesDeps, 'proofKey'>): void {
  app.get(
    '/api/v1/imap/proof-key',
    {
      schema: {
        summary: 'Get the public key of the proofs of migrations',
        operationId: 'getProofKey',
        response: responses(Success(ProofKey)),
      },
    },
    async () => ({ success: true, data: presentKey(proofKey) }),
  )
}

function mailboxRoutes(app: App, deps: ProofRoutesDeps): void {
  const { db, proofKey } = deps
  const path = '/api/v1/imap/migrate/:id/proof'
  app.get(
    path,
    {
      schema: {
        summary: 'Get the proof of a migration',
        description: 'The last proof that was made, and the state of the one that is being made.',
        operationId: 'getMigrationProof',
        params,
        response: responses(Success(MigrationProof)),
      },
    },
    async (request) => {
      const { id } = request.params
      return { success: true, data: await presentProof(db, nameOf(request, id), proofKey) }
    },
  )
  app.post(
    path,
    {
      config: { limit: 'connections' },
      schema: {
        summary: 'Request the proof of a migration',
        description:
          'Reads the messages of both servers again and compares them. It replaces an earlier proof when it is made.',
        operationId: 'requestMigrationProof',
        params,
        body: ProofRequest,
        response: responses(Success(MigrationProof)),
      },
    },
    async (request) => {
      const name = nameOf(request, request.params.id)
      await requestProof(deps, name, request.body)
      return { success: true, data: await presentProof(db, name, proofKey) }
    },
  )
  app.get(
    `${path}/file`,
    { config: { limit: 'proof files' }, schema: fileSchema('Migration') },
    async (request, reply) => {
      const { id } = request.params
      await requireMigration(db, nameOf(request, id))
      const document = await findDocument(db, id)
      if (document === null)
        throw new Fault('not_found', 'No proof of this migration was made yet.')
      return sendFile(reply, `proof-${id}`, signFile(document, proofKey))
    },
  )
}

function batchRoutes(app: App, deps: ProofRoutesDeps): void {
  const { db, proofKey } = deps
  const path = '/api/v1/imap/batches/:id/proof'
  app.get(
    path,
    {
      config: { isHeavy: true },
      schema: {
        summary: 'Get the proof of a batch',
        operationId: 'getMigrationBatchProof',
        params,
        response: responses(Success(MigrationBatchProof)),
      },
    },
    async (request) => {
      const name = nameOf(request, request.params.id)
      return { success: true, data: await presentBatchProof(db, name, proofKey) }
    },
  )
  app.post(
    path,
    {
      config: { limit: 'imports' },
      schema: {
        summary: 'Request the proofs of all mailboxes of a batch',
        description:
          'Reads the messages of both servers again and compares them, mailbox by mailbox.',
        operationId: 'requestMigrationBatchProof',
        params,
        body: BatchProofRequest,
        response: responses(Success(MigrationBatchProof)),
      },
    },
    async (request) => {
      const name = nameOf(request, request.params.id)
      await requestBatchProof(deps, name, request.body.level ?? 'headers')
      return { success: true, data: await presentBatchProof(db, name, proofKey) }
    },
  )
  app.get(
    `${path}/file`,
    { config: { limit: 'proof files' }, schema: fileSchema('MigrationBatch') },
    async (request, reply) => {
      const batch = await requireBatch(db, nameOf(request, request.params.id))
      const { requested } = await countBatchProofs(db, batch.id)
      if (requested === 0) throw new Fault('not_found', 'No proof of this batch was made yet.')
      const document = JSON.stringify(await composeBatchProof(db, batch))
      return sendFile(reply, `proof-batch-${batch.id}`, signFile(document, proofKey))
    },
  )
}

function fileSchema(of: string) {
  return {
    summary: 'Download a proof as a signed file',
    description:
      'Two lines of JSON: the proof, and an Ed25519 signature of the first line with its line feed. `portreeve verify-proof` checks it without a server.',
    operationId: `download${of}Proof`,
    params,
    produces: [FILE_TYPE],
    response: responsesAs(FILE_TYPE, Type.String()),
  }
}

function sendFile(reply: FastifyReply, name: string, file: string) {
  return reply
    .type(FILE_TYPE)
    .header('content-disposition', `attachment; filename="${name}.jsonl"`)
    .header('cache-control', 'no-store')
    .send(file)
}

async function requireMigration(db: Db, { workspaceId, id }: Name) {
  const row = await findMigration(db, workspaceId, id)
  if (!row) throw new Fault('not_found', 'The migration was not found.')
  return row
}

async function presentProof(db: Db, name: Name, key: SigningKey) {
  const migration = await requireMigration(db, name)
  const row = await findProof(db, name.id)
  const document = row ? await findDocument(db, name.id) : null
  const proof = document === null ? null : (JSON.parse(document) as MailboxProof)
  return {
    state: row?.state ?? ('none' as const),
    level: row?.level ?? null,
    requestedAt: row?.requestedAt ?? null,
    endedAt: row?.endedAt ?? null,
    messagesRead: row?.messagesRead ?? 0,
    messagesTotal: row?.messagesTotal ?? null,
    error: row?.error ?? null,
    needsPasswords: migration.batchId === null && !(await hasSecret(db, name.id)),
    key: presentKey(key),
    isEmpty: proof !== null && isEmptyProof(proof.totals),
    proof,
  }
}

async function presentBatchProof(db: Db, name: Name, key: SigningKey) {
  const batch = await requireBatch(db, name)
  const counts = await countBatchProofs(db, batch.id)
  const proof = counts.requested === 0 ? null : await composeBatchProof(db, batch)
  const empty = proof?.mailboxes.filter(({ totals }) => totals && isEmptyProof(totals)) ?? []
  return { ...counts, empty: empty.length, key: presentKey(key), proof }
}

function presentKey({ publicKey, fingerprint }: SigningKey) {
  return { algorithm: 'Ed25519' as const, publicKey, fingerprint }
}

type Name = { workspaceId: string; id: string }

function nameOf(request: Parameters<typeof callerOf>[0], id: string): Name {
  return { workspaceId: callerOf(request).workspaceId, id }
}
