"""The data sets by name: file, checksum of the decoded array, source, terms, public address."""

from dataclasses import dataclass

UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases"
FSPCA = (
    "https://raw.githubusercontent.com/tianlaics/FSPCA/"
    "9214ad83dc1ee1307084088fdbbeeb6608228c5c/code/Real-world%20Data"
)
LIBSVM = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets"


@dataclass(frozen=True)
class Entry:
    """What is known of a set before it is here; `dtype` and `shape` are the decoded array's."""

    file: str
    shape: tuple
    dtype: str
    sha256: str
    source: str
    terms: str = "not carried here"
    url: str = ""


CATALOGUE = {
    # carried in fspca/datasets/raw
    "pitprops": Entry(
        "pitprops.csv", (13, 13), "f8",
        "c0616855c8b0a75215470c6d5b555050c83ad020d354738f4b51dccdf0b1b0a3",
        "correlations of 13 measurements of 180 pit props, Jeffers 1967", "published figures"),
    "numerical_numbers": Entry(
        "numerical_numbers.npz", (2000, 216), "u2",
        "976c9574c1844633cdf5d870874c3317d1ca209fc07e3e2587e08a76ac0ce85b",
        "UCI Multiple Features, profile correlations of digits (mfeat-fac)", "CC BY 4.0",
        f"{UCI}/mfeat/mfeat-fac"),
    "digit_pixels": Entry(
        "digit_pixels.npz", (2000, 240), "u1",
        "fdb0c378e4ae9463e0ccead9514f69e0f56e8fe5bf1ab742b55f396bcc5f746b",
        "UCI Multiple Features, the same digits as 15 x 16 pixels (mfeat-pix)", "CC BY 4.0",
        f"{UCI}/mfeat/mfeat-pix"),
    "leukemia_golub": Entry(
        "leukemia_golub.npz", (72, 7129), "i4",
        "d93c253cb9145ea0da662af97ce8dae220250c5b7316d22b453c20a9bc7caaa9",
        "Golub et al. 1999, from Debian's r-bioc-golubesets", "LGPL-2"),
    "tissue_expression": Entry(
        "tissue_expression.npz", (189, 500), "f4",
        "da87b5823c3d6d47a2ed8d93db4cb2904912441bf059bbcb490e23c86a155ea3",
        "500 genes in 7 tissues, from R's dslabs", "Artistic-2.0"),
    "tecator_spectra": Entry(
        "tecator_spectra.npz", (215, 100), "f4",
        "193d8c726ff338c002662fb57c6c96b6c22c15a812d0c9db5f82f7f7ba23f7e0",
        "absorbance spectra of meat, from R's modeldata", "MIT"),
    "wine": Entry(
        "wine.npz", (178, 13), "f8",
        "7d41765fc9620fe4942ed7d3cfe70c143f32166b26b744c2417760091cec26fd",
        "UCI Wine, 13 measurements of wines of three growers", "CC BY 4.0"),
    # used by the papers, not ours to carry
    "lymphoma_covariance": Entry(
        "lymphoma_covariance.npz", (500, 500), "f8",
        "d0382219e95d677658942a0c12c10b5b35ba0f1d52fa59745a6faad0f6dc4597",
        "covariance of 500 genes in lymphoma, published by the authors of tian2020",
        url=f"{FSPCA}/LymphomaCov.mat"),
    "nus_wide": Entry(
        "nus_wide.npz", (2400, 225), "f8",
        "578faaff0768857d373abed98801186657ca79cc4a243a8b9522b97736997c8e",
        "colour moments of 2400 images of NUS-WIDE, published by the authors of tian2020",
        url=f"{FSPCA}/NUS-WIDE.mat"),
    "lymphoma_62": Entry(
        "lymphoma_62x2093.npz", (62, 2093), "i2",
        "416abc831984ccc35d5b7282360ea8105a0baf4e26610d4a6c0b5c6273cac49b",
        "Alizadeh et al. 2000, log-ratios x 100 of 2093 genes, as integers"),
    "lymphoma_96": Entry(
        "lymphoma_96x4026.npz", (96, 4026), "f4",
        "0474823ebfe35dcb2622da15ea8588db7430c912205547b88ab96b8056f84288",
        "Alizadeh et al. 2000, 4026 genes, gaps filled"),
    "colon": Entry(
        "colon_62x2000.npz", (62, 2000), "f4",
        "1230bb9c515c22bd1ed77f04b1a838f018f68c1e45ec91ccee0113e9d0ee5d29",
        "Alon et al. 1999, raw intensities"),
    "prostate": Entry(
        "prostate_102x12600.npz", (102, 12600), "f4",
        "790a45cb67fa9ac56b67b3989fa2296bad42dfd9682b6815623fd7fcb5fab45e",
        "Singh et al. 2002, all genes"),
    "dlbcl": Entry(
        "dlbcl_77x7129.npz", (77, 7129), "f4",
        "af7dd3bcf9e0d9144549fd147e758cf97bc4ebfbc350c2e03f820b22ddafc9d6",
        "Shipp et al. 2002, all genes"),
    "duke": Entry(
        "duke_44x7129.npz", (44, 7129), "f4",
        "ebb140d72cb5f44591d7b2ebbe153181a821f3a0a5942d4d62b7bf574e7dc4ba",
        "West et al. 2001, standardised, as LIBSVM gives it", url=f"{LIBSVM}/binary/duke.bz2"),
    "gcm": Entry(
        "gcm_190x1363.npz", (190, 1363), "f4",
        "d262e4cbc6a88fe0064054972d404ef97c97b4d91e050092cad085f03db35313",
        "Ramaswamy et al. 2001, 1363 genes in 14 classes"),
    "news20": Entry(
        "news20_15935x62061.npz", (15935, 62061), "i2",
        "86c95f210f365c17d40c5db6061546fd1b1c9612b58866d5b23da7d3e67308e0",
        "20 Newsgroups, word counts, as LIBSVM gives them", url=f"{LIBSVM}/multiclass/news20.bz2"),
    "cbcl_faces": Entry(
        "cbcl_faces_2429x361.npz", (2429, 361), "u1",
        "31cb34a8fdf613fb7d8e1ba5422a8040c637914a98a23c7fd4ec842862f365ef",
        "MIT CBCL faces, 19 x 19 pixels, columns first", "for research only; not carried here"),
    "leukemia_armstrong": Entry(
        "leukemia_armstrong_72x12582.npz", (72, 12582), "f4",
        "db5d295be4ee2f90b7e82bc4c29cf551155569864bf2eee58d17b80f15f53ec8",
        "Armstrong et al. 2002, three leukemias"),
    "lrs": Entry(
        "lrs_531x93.npz", (531, 93), "f8",
        "5cba0d7c968a7dbd79febfef3ccc078925ffade6b7a411b42a24ef1a9255336a",
        "UCI Low Resolution Spectrometer, 93 fluxes, each row's mean 5000"),
}  # fmt: skip
