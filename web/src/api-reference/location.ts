import { useLayoutEffect, useState } from 'react'

/**
 * The place that the fragment of the address names: `''` for the overview, a section of it such as
 * `errors`, or the id of an operation. `field` is a path within the operation, such as
 * `['200', 'data', 'mx']`.
 */
export type Place = { name: string; field: string[] }

/** `#getDnsCheck/200/data/mx` */
export function placeHref(name: string, field: string[] = []): string {
  return `#${[name, ...field].map(encodeURIComponent).join('/')}`
}

export function parsePlace(hash: string): Place {
  const [name = '', ...field] = hash.replace(/^#/, '').split('/').map(decoded)
  return { name, field: field.filter((part) => part !== '') }
}

/** A damaged escape, such as `%E0`, stays as it is. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

/** The id of the element of a field, for the browser and for links. */
export const fieldId = (path: string[]) => path.map(encodeURIComponent).join('/')

/** The current place: a new object after each navigation, also one to the same place. */
export function usePlace(): Place {
  const [place, setPlace] = useState(currentPlace)
  // A layout effect follows the first render without a pause in which the address could change.
  useLayoutEffect(() => {
    const update = () => setPlace(currentPlace())
    window.addEventListener('hashchange', update)
    return () => window.removeEventListener('hashchange', update)
  }, [])
  return place
}

const currentPlace = () => parsePlace(window.location.hash)
