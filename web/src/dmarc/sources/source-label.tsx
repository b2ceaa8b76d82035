import { Link } from '@tanstack/react-router'
import { AddressLink } from '../../addresses/address-link.tsx'
import type { Source } from '../api.ts'
import { source as messages } from '../messages.ts'
import { describeSource, sourceName } from './source-labels.ts'

/** Below the name of a source: a link to all about its address, unconfirmed name and network. */
export function SourceLabel({ source }: { source: Source }) {
  const { sourceIp } = source
  const text = describeSource(source)
  return (
    <small>
      {sourceName(source) === sourceIp ? (
        <Link to="/addresses/$ip" params={{ ip: sourceIp }}>
          {messages.allAbout}
        </Link>
      ) : (
        <AddressLink address={sourceIp} />
      )}
      {text && ` · ${text}`}
    </small>
  )
}
