import type { Operation, Paths } from '../../http/openapi/openapi-document.ts'
import { MAX_STORED_BODY_BYTES } from '../limits.ts'

const METHODS = ['get', 'post', 'put', 'delete', 'patch', 'head', 'options'] as const
const WITH_BODY = new Set(['post', 'put', 'delete', 'patch'])

/**
 * The capture URL for the OpenAPI document. Captures bypass the router, so it does not know these
 * routes.
 */
export const CAPTURE_PATHS: Paths = {
  '/webhooks/{token}': Object.fromEntries(METHODS.map((method) => [method, operationOf(method)])),
}

function operationOf(method: (typeof METHODS)[number]): Operation {
  const anything = { '*/*': { schema: {} } }
  return {
    operationId: `capture${method.charAt(0).toUpperCase()}${method.slice(1)}`,
    summary: `Capture a ${method.toUpperCase()} request`,
    description:
      'Stores the request, then sends the configured response. Paths below the token belong to the endpoint. The ' +
      `first ${MAX_STORED_BODY_BYTES} bytes of a body are stored, whatever its type.`,
    tags: ['Webhooks'],
    security: [],
    parameters: [
      {
        name: 'token',
        in: 'path',
        required: true,
        schema: { type: 'string', pattern: '^[A-Za-z0-9-]{6,63}$', maxLength: 63 },
        description: 'The `token` or the `name` of an endpoint.',
      },
    ],
    ...(WITH_BODY.has(method) && { requestBody: { content: anything } }),
    responses: {
      200: {
        description: 'The configured response',
        ...(method !== 'head' && { content: anything }),
      },
      404: textResult('The endpoint does not exist', method),
      429: textResult('Too many requests for the endpoint', method),
      503: textResult('The request could not be stored', method),
      default: textResult('The request was rejected', method),
    },
  }
}

function textResult(description: string, method: string) {
  return {
    description,
    ...(method !== 'head' && { content: { 'text/plain': { schema: { type: 'string' } } } }),
  }
}
