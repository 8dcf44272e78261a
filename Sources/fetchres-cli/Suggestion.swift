/// What somebody who mistyped a word may have meant.
enum Suggestion {
  /// The nearest of the words; nil if none is near.
  static func nearest(to word: String, among words: [String]) -> String? {
    let nearest = words.min { distance($0, word) < distance($1, word) }
    guard let nearest else { return nil }
    let length = word.drop { $0 == "-" }.count
    return distance(nearest, word) <= (length <= 3 ? 1 : 2) ? nearest : nil
  }

  /// How many letters are put in, left out, changed, or swapped with the next one.
  static func distance(_ one: String, _ other: String) -> Int {
    let (one, other) = (Array(one.utf8), Array(other.utf8))
    var rows = [Array(0...other.count)]
    for (index, byte) in one.enumerated() {
      var row = [index + 1]
      for column in other.indices {
        var least = min(
          rows[index][column + 1] + 1, row[column] + 1,
          rows[index][column] + (byte == other[column] ? 0 : 1))
        if index > 0, column > 0, byte == other[column - 1], one[index - 1] == other[column] {
          least = min(least, rows[index - 1][column - 1] + 1)
        }
        row.append(least)
      }
      rows.append(row)
    }
    return rows[one.count][other.count]
  }
}
