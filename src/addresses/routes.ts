import { callerOf } from '../http/auth.ts'
import { responses, Success } from '../http/http-schema.ts'
import type { App } from '../http/http-server.ts'
import { describeAddress, readRange, type AddressReaders } from './describe-address.ts'
import { AddressOverview, AddressParams } from './shapes.ts'

/** `/api/v1/addresses/{ip}`: all that the workspace knows of an address. */
export function addressRoute(app: App, readers: AddressReaders): void {
  app.get(
    '/api/v1/addresses/:ip',
    {
      config: { limit: 'address overviews' },
      schema: {
        summary: 'Get all that is known of an address',
        operationId: 'getAddress',
        description:
          'From the tables of this installation: nothing is looked up elsewhere. An IPv6 address stands for its /64. ' +
          'Parts that an API token may not read are null.',
        params: AddressParams,
        response: responses(Success(AddressOverview)),
      },
    },
    async (request) => ({
      success: true,
      data: await describeAddress(readers, callerOf(request), readRange(request.params.ip)),
    }),
  )
}
