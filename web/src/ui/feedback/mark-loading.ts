/** How many outlines of loading content an element contains. */
const counts = new WeakMap<Element, number>()

/**
 * Marks all elements around an outline with `data-has-loading`. A style sheet that searched for it
 * (`:has`) would be evaluated again for each change below.
 * @returns a function that ends it
 */
export function markLoading(outline: Element | null): (() => void) | undefined {
  const around: Element[] = []
  for (let one = outline?.parentElement; one; one = one.parentElement) around.push(one)
  const count = (by: number) => {
    for (const element of around) {
      const now = (counts.get(element) ?? 0) + by
      counts.set(element, now)
      element.toggleAttribute('data-has-loading', now > 0)
    }
  }
  count(1)
  return () => count(-1)
}
