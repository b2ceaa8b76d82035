import { Type, type Static } from 'typebox'
import {
  MAX_LENGTH,
  nameComponents,
  OrderOf,
  Pagination,
  SearchText,
} from '../../http/http-schema.ts'
import { HOST_STATUSES, MonitoredHost } from '../shapes.ts'
import { HOST_ORDERS } from './host-list.sql.ts'

/** `page` and `limit` have no defaults: without both, the list is whole. */
export const HostsQuery = Type.Object({
  page: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 1_000_000,
      description: 'One page, with `pagination` and `counts`. Without it, all hosts.',
    }),
  ),
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 100, description: 'Default on a page: 20.' }),
  ),
  q: SearchText,
  host: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: MAX_LENGTH.host,
      description: 'Only the host with this name or address.',
    }),
  ),
  status: Type.Optional(
    Type.Enum([...HOST_STATUSES], { description: 'Only hosts with this status.' }),
  ),
  sort: OrderOf(HOST_ORDERS),
})

const HostCounts = Type.Object(
  {
    pending: Type.Integer(),
    clean: Type.Integer(),
    listed: Type.Integer(),
    unknown: Type.Integer(),
    certificateProblems: Type.Integer({
      description: 'Hosts with a certificate whose state is not `valid`.',
    }),
  },
  { description: 'All hosts of the workspace by status, whatever the filter. Only on pages.' },
)
type HostCounts = Static<typeof HostCounts>

export const HostList = Type.Object({
  success: Type.Literal(true),
  data: Type.Array(MonitoredHost),
  pagination: Type.Optional(Pagination),
  counts: Type.Optional(HostCounts),
})

nameComponents({ HostCounts })
