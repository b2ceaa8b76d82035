/** Latin letters that have no decomposition. */
const LATIN = 'ß ss æ ae œ oe ø o đ d ð d þ th ł l ı i ŋ ng ħ h'

const CYRILLIC =
  'а a б b в v г g д d е e ж zh з z и i й y к k л l м m н n о o п p р r с s т t у u ф f х kh ' +
  'ц ts ч ch ш sh щ shch ъ _ ы y ь _ э e ю yu я ya є ye і i ґ g ђ dj ј j љ lj њ nj ћ c џ dz ѓ gj ќ kj ѕ dz'

const GREEK =
  'α a β v γ g δ d ε e ζ z η i θ th ι i κ k λ l μ m ν n ξ x ο o π p ρ r σ s ς s τ t υ y φ f χ ch ψ ps ω o'

const LETTERS = new Map(
  [LATIN, CYRILLIC, GREEK].flatMap((pairs) =>
    [...pairs.matchAll(/(\S+) (\S+)/g)].map(([, from = '', to = '']) => [
      from,
      to === '_' ? '' : to,
    ]),
  ),
)

/** Writes Latin, Cyrillic and Greek letters in ASCII. Other characters stay as they are. */
export function transliterate(text: string): string {
  const bare = text.normalize('NFKD').replace(/\p{M}+/gu, '')
  return bare.replace(/[^\x20-\x7e]/gu, (letter) => {
    const lower = letter.toLowerCase()
    const latin = LETTERS.get(lower)
    if (latin === undefined) return letter
    return lower === letter ? latin : latin.charAt(0).toUpperCase() + latin.slice(1)
  })
}
