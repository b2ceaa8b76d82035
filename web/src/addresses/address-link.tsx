import { Link } from '@tanstack/react-router'

/** An address, or the /64 of one, as a link to the page with all that is known of it. */
export function AddressLink({ address }: { address: string }) {
  return (
    <Link to="/addresses/$ip" params={{ ip: address.replace(/\/\d+$/, '') }}>
      <code>{address}</code>
    </Link>
  )
}
