import { SearchForm } from '../ui/forms/search-form.tsx'

type LookUpProps = { ip: string; onAsk: (ip: string) => void; autoFocus?: boolean }

/** Asks for an address; whether it is a good one is for the service to say. */
export function LookUp({ ip, onAsk, autoFocus = false }: LookUpProps) {
  function ask(typed: string): string | null {
    if (!typed) return 'Type an address such as 192.0.2.1 or 2001:db8::1.'
    onAsk(typed)
    return null
  }
  return (
    <SearchForm
      key={ip}
      name="ip"
      label="IPv4 or IPv6 address"
      submit="Look up"
      placeholder="192.0.2.1 or 2001:db8::1"
      defaultValue={ip}
      autoFocus={autoFocus}
      onAsk={ask}
    />
  )
}
