import { Fault } from '../../errors.ts'
import { parseConditions } from '../conditions/conditions.ts'
import { createRequestValues } from '../conditions/request-values.ts'
import { requireEndpoint } from '../endpoints/endpoints.ts'
import type { Header } from '../headers.ts'
import { encodeBytes } from '../present-request.ts'
import type { RequestRow } from '../requests/captured-request.ts'
import { findRequest } from '../requests/captured-requests.sql.ts'
import { verifyRequestSignature } from '../requests/verify-signature.ts'
import { changeRequest } from './change-request.ts'
import {
  findOpened,
  HIDDEN,
  type DestinationDeps,
  type DestinationOwner,
  type OpenedDestination,
} from './destinations.ts'
import type { SealedSettings } from './destination-settings.ts'
import { requestToSend, parseEdit } from './edit-request.ts'
import { unsendableReason } from './forwardable.ts'
import { markOf } from './forwarding-marks.ts'
import { PatchError } from './json-patch.ts'
import { buildRequest, messageIdOf } from './outgoing-request.ts'
import type { RequestEdit } from './shapes.ts'
import { UNSENDABLE } from './unsendable.ts'

type PreviewDeps = Pick<DestinationDeps, 'db' | 'secretKey'> & { baseUrl: string }

/** What would be sent, before dates and signatures that are made for each attempt. */
export type Preview = {
  matches: boolean
  error: string | null
  request: {
    method: string
    url: string
    headers: Header[]
    body: string
    bodyEncoding: 'utf8' | 'base64'
  } | null
}

/**
 * Shows what a destination would get of a captured request, and sends nothing.
 * @param hidesSecrets also the path of its URL
 * @throws Fault `not_found`, `invalid_request`, `conflict` where this SECRET_KEY does not decrypt it
 */
export async function previewForwarding(
  deps: PreviewDeps,
  owner: Omit<DestinationOwner, 'admin'>,
  id: string,
  given: { requestId: string; edit?: RequestEdit | undefined },
  hidesSecrets: boolean,
): Promise<Preview> {
  const { db, secretKey } = deps
  const endpoint = await requireEndpoint(db, owner.workspaceId, owner.endpointId)
  const { row, settings } = await findOpened(deps, owner, id)
  if (settings === null)
    throw new Fault('conflict', 'The destination cannot be decrypted. Enter its URL again.')
  const captured = await findRequest(db, owner.endpointId, given.requestId)
  if (!captured)
    throw new Fault('not_found', 'The captured request was not found, or it has been deleted.')
  const parsed = parseConditions(row.when)
  const isVerified = () => verifyRequestSignature(captured, endpoint, secretKey)?.status === 'valid'
  const matches = 'matches' in parsed && parsed.matches(createRequestValues(captured, isVerified))
  const request = requestToSend(captured, given.edit ? parseEdit(given.edit) : null)
  const mark = markOf(owner.endpointId, secretKey)
  const reason = unsendableReason(request, mark)
  if (reason !== null) return { matches, error: UNSENDABLE[reason], request: null }
  try {
    const changed = changeRequest(request, row.change)
    const isEdited = given.edit !== undefined
    const sent = await present({ row, settings }, changed, { ...deps, mark, isEdited })
    const url = hidesSecrets ? `${row.target}/${HIDDEN}` : sent.url
    return { matches, error: null, request: { ...sent, url } }
  } catch (error) {
    if (error instanceof PatchError) return { matches, error: error.message, request: null }
    throw error
  }
}

async function present(
  { row, settings }: OpenedDestination & { settings: SealedSettings },
  request: RequestRow,
  { mark, baseUrl, isEdited }: { mark: string; baseUrl: string; isEdited: boolean },
) {
  const sent = await buildRequest(request, {
    settings,
    sign: row.sign,
    messageId: messageIdOf(request.id, isEdited ? request.id : null),
    isEdited,
    attempt: 1,
    repeat: 'no',
    mark,
    baseUrl,
    now: Date.now(),
  })
  const secret = new Set([
    ...settings.headers.map(([name]) => name.toLowerCase()),
    'webhook-signature',
    'signature',
  ])
  const { text, encoding } = encodeBytes(sent.body)
  return {
    method: sent.method,
    url: sent.url.origin + sent.path,
    headers: sent.headers.map(([name, value]): Header => [
      name,
      secret.has(name.toLowerCase()) ? HIDDEN : value,
    ]),
    body: text,
    bodyEncoding: encoding,
  }
}
