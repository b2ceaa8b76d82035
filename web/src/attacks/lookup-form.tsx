import { SearchForm } from '../ui/forms/search-form.tsx'
import { lookup } from './messages.ts'

type LookupFormProps = { ip: string; onAsk: (ip: string) => void; autoFocus?: boolean }

/** A field for an address. The service decides whether the address is valid. */
export function LookupForm({ ip, onAsk, autoFocus = false }: LookupFormProps) {
  function ask(typed: string): string | null {
    if (!typed) return lookup.missing
    onAsk(typed)
    return null
  }
  return (
    <SearchForm
      key={ip}
      name="ip"
      label={lookup.label}
      submit={lookup.submit}
      placeholder={lookup.example}
      defaultValue={ip}
      autoFocus={autoFocus}
      onAsk={ask}
    />
  )
}
